//! A method that is not quince's own: trained on a table, compared, saved and loaded.

use quince::evaluate::{Folds, Metric, compare};
use quince::learn::{
    Capability, Checked, Classes, Domain, DynLearner, Examples, Fitted, Learner, MethodInfo, Prediction, SavedParts,
    Settings, Target, TargetView,
};
use quince::linear::Ridge;
use quince::matrix::{Features, Sparse};
use quince::registry::Registry;
use quince::run::Report;
use quince::{Matrix, Model, Result, Run};
use std::sync::Arc;

quince::settings! {
    /// Predicts the class whose mean is nearest.
    pub struct NearestMean {
        /// Exponent of the differences.
        exponent: f64 = 2.0, in Domain::Number(1.0, 10.0);
    }
}

#[derive(Clone)]
pub struct Means(Matrix, f64);

impl Learner for NearestMean {
    type Fitted = Means;

    const INFO: MethodInfo = MethodInfo {
        name: "nearest-mean",
        title: "Nearest mean",
        summary: "The class whose mean is nearest.",
        capabilities: &[Capability::Classify],
        settings: Self::SETTINGS,
        python: &[],
    };

    fn fit_checked(&self, examples: &Checked<'_>, _: &Run) -> Result<(Means, Report)> {
        let TargetView::Classes { classes, codes } = examples.target().view() else { unreachable!("only classes") };
        let rows = examples.features().take(&(0..examples.rows()).collect::<Vec<_>>());
        let rows = rows.features();
        let mut means = Matrix::zeros(classes.count(), rows.columns());
        let counts: Vec<f64> =
            (0..classes.count()).map(|k| codes.iter().filter(|&&code| code as usize == k).count() as f64).collect();
        for (i, &code) in codes.iter().enumerate() {
            for j in 0..rows.columns() {
                means[(code as usize, j)] += value(&rows, i, j) / counts[code as usize];
            }
        }
        Ok((Means(means, self.exponent), Report::computed("means of classes")))
    }
}

fn value(rows: &Features<'_>, i: usize, j: usize) -> f64 {
    match rows.dense_part() {
        Some(quince::matrix::Dense::F64(view)) => view.get(i, j),
        _ => panic!("the rows of this test are dense and double"),
    }
}

impl Fitted for Means {
    fn predict_rows(&self, rows: &Features<'_>, _: &Run) -> Result<Prediction> {
        let mut scores = Matrix::zeros(rows.rows(), self.0.rows());
        let mut probabilities = Matrix::zeros(rows.rows(), self.0.rows());
        for i in 0..rows.rows() {
            for k in 0..self.0.rows() {
                scores[(i, k)] =
                    -(0..rows.columns()).map(|j| (value(rows, i, j) - self.0[(k, j)]).abs().powf(self.1)).sum::<f64>();
            }
            let most = scores.row(i).iter().copied().fold(f64::MIN, f64::max);
            let total: f64 = scores.row(i).iter().map(|score| (score - most).exp()).sum();
            for k in 0..self.0.rows() {
                probabilities[(i, k)] = (scores[(i, k)] - most).exp() / total;
            }
        }
        Ok(Prediction::Classes { scores, probabilities })
    }

    fn save(&self, parts: &mut SavedParts<'_>) {
        parts.put_matrix("means", &self.0);
        parts.put_vector("exponent", &[self.1]);
        // JSON has no infinity.
        parts.put_json("largest", &self.0.values().iter().copied().fold(0.0, f64::max));
    }

    fn load(parts: &mut SavedParts<'_>) -> Result<Means> {
        parts.take_json::<f64>("largest")?;
        Ok(Means(parts.take_matrix("means", Some(parts.classes()))?, parts.take_vector("exponent", Some(1))?[0]))
    }
}

#[test]
fn a_method_of_ones_own_is_trained_compared_saved_and_loaded() {
    let iris = crate::example("iris.csv");
    let labelled = iris.labelled("species", None).unwrap();
    let error = Model::train(&iris, "species", &NearestMean::new().exponent(0.5)).err().unwrap();
    assert_eq!(error.to_string(), "setting 'exponent' cannot be 0.5");
    let model = Model::fit(&labelled, None, &NearestMean::new(), &Run::new()).unwrap();
    let registry = Registry::standard().with::<NearestMean>();
    let again = Model::from_bytes_with(&model.to_bytes(), &registry).unwrap();
    assert_eq!(again.predict(&iris).unwrap(), model.predict(&iris).unwrap());
    let error = Model::from_bytes(&model.to_bytes()).err().unwrap();
    assert!(error.to_string().contains("there is no method called 'nearest-mean'"), "{error}");
    assert!(error.remedy().contains("Model::load_with"), "{}", error.remedy());
    let learners: Vec<Box<dyn DynLearner>> = vec![Box::new(NearestMean::default()), Box::new(Ridge::default())];
    let board = compare(&labelled, &learners, &Folds::K(5), None, None, &Run::new()).unwrap();
    let own = board.entrants.iter().find(|entrant| entrant.method == "nearest-mean").unwrap();
    // The means of the species are far apart.
    assert!(own.metric(Metric::Accuracy).unwrap().mean > 0.8);
}

#[test]
fn what_a_method_does_not_declare_never_reaches_it() {
    let (rows, run) = (Matrix::from_rows(&[[0.0], [1.0], [5.0], [6.0]]), Run::new());
    let sparse = Sparse::from_rows(1, [vec![], vec![(0, 1.0)], vec![(0, 5.0)], vec![(0, 6.0)]]).unwrap();
    let target = Target::labels(&["a", "a", "b", "b"]);
    let refusal = |features: Features<'_>, weights| {
        let examples = Examples::new(features, &target, weights).unwrap();
        let typed = NearestMean::new().fit_examples(&examples, &run).map(drop);
        let by_name = (&NearestMean::new() as &dyn DynLearner).fit_dyn(&examples, &run).map(drop);
        assert_eq!(typed, by_name);
        typed.err().map(|error| error.to_string())
    };
    assert_eq!(refusal(rows.features(), None), None);
    let weights = [1.0, 2.0, 1.0, 1.0];
    assert_eq!(refusal(rows.features(), Some(&weights)).unwrap(), "'nearest-mean' takes no sample weights");
    assert_eq!(refusal(Features::sparse(&sparse), None).unwrap(), "'nearest-mean' takes no sparse rows");
    let three = Target::labels(&["a", "b", "b", "c"]);
    let examples = Examples::new(rows.features(), &three, None).unwrap();
    let error = quince::margin::Svm::default().fit_examples(&examples, &run).err().unwrap();
    assert_eq!(error.to_string(), "'svm' learns two classes, and the target has 3");
}

#[test]
fn a_model_that_could_not_be_read_back_is_not_saved_over_another() {
    let folder = crate::scratch("unreadable");
    let path = folder.join("m.quince");
    let known = |mean: f64| {
        let means = Means(Matrix::from_rows(&[[0.0], [mean]]), 2.0);
        let target = Target::classes(Classes::of(["a", "b"]), Vec::new()).unwrap();
        let rows = Matrix::zeros(1, 1);
        let report = Report::computed("given");
        Model::from_fitted(&NearestMean::new(), (&rows.features(), &target), Arc::new(means), report, &Run::new())
            .unwrap()
    };
    known(1.0).save(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = known(f64::INFINITY).save(&path).unwrap_err();
    assert!(error.to_string().starts_with("'largest' of the model holds NaN or infinity"), "{error}");
    assert!(known(f64::INFINITY).save_to(Vec::new()).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn a_model_is_a_value() {
    fn is_value<T: Clone + Send + Sync + 'static>() {}
    // `Learner::Fitted` asks the same of what every method learns.
    is_value::<Model>();
    let x = Matrix::from_rows(&[[0.0], [1.0], [2.0]]);
    let target = Target::numbers(x.clone()).unwrap();
    let model = Model::fit_features(&x.features(), &target, None, &Ridge::default(), &Run::new()).unwrap();
    assert_eq!(model.clone().to_bytes(), model.to_bytes());
}
