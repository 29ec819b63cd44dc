//! The encoder's rules, each as a claim.

use quince::encode::{Encoder, Holes};
use quince::linear::Ridge;
use quince::{Model, Run, Table};

const TRAIN: &str = "age,city,member,note,label\n31,Oslo,yes,good good film,a\n25,Rome,no,bad film here,b\n\
    47,Oslo,?,good one again,a\n?,?,no,bad bad day,b\n38,Bern,no,a good film,a\n29,Rome,yes,,b\n";

fn dense(encoder: &Encoder, csv: &str) -> Vec<Vec<f64>> {
    let table = Table::from_csv(csv).unwrap();
    let rows = encoder.encode(&table, Holes::Filled, &Run::new()).unwrap();
    let part = rows.features().dense_part().unwrap();
    (0..part.rows()).map(|i| (0..part.columns()).map(|j| part.get(i, j)).collect()).collect()
}

fn encoder() -> Encoder {
    Encoder::learn(&Table::from_csv(TRAIN).unwrap().without(&["label"]), &Run::new()).unwrap()
}

#[test]
fn features_are_named_after_column_category_and_word() {
    let names = encoder().feature_names();
    assert_eq!(names[..5], ["age", "city=Bern", "city=Oslo", "city=Rome", "member"]);
    // Words found in two rows or more, sorted.
    assert_eq!(names[5..], ["note: bad", "note: film", "note: good"]);
}

#[test]
fn holes_become_the_mean_the_most_frequent_category_and_the_more_frequent_answer() {
    let rows = dense(&encoder(), "age,city,member,note\n34,Oslo,no,x y\n?,,NA,null\n");
    assert_eq!(rows[0], rows[1], "34 is the mean age, Oslo comes before Rome as often, no is more frequent");
}

#[test]
fn an_unseen_category_is_zero_everywhere_and_an_unseen_word_is_left_out() {
    let table = Table::from_csv("age,city,member,note\n34,Paris,no,good unheard\n").unwrap();
    let encoder = encoder();
    let rows = encoder.encode(&table, Holes::Filled, &Run::new()).unwrap();
    let part = rows.features().dense_part().unwrap();
    assert_eq!((1..4).map(|j| part.get(0, j)).collect::<Vec<_>>(), [0.0, 0.0, 0.0]);
    let words = rows.features().sparse_part().unwrap();
    assert_eq!(words.row(0), (&[2u32][..], &[1.0][..]));
}

#[test]
fn reordered_and_additional_columns_change_nothing() {
    let plain = dense(&encoder(), "age,city,member,note\n40,Rome,yes,film\n");
    let mixed = dense(&encoder(), "note,extra,member,city,age\nfilm,9,yes,Rome,40\n");
    assert_eq!(plain, mixed);
}

#[test]
fn a_missing_column_and_a_cell_that_does_not_fit_are_refused_with_their_names() {
    let table = Table::from_csv(TRAIN).unwrap();
    let model = Model::train(&table, "label", &Ridge::default(), &Run::new()).unwrap();
    let predict = |csv: &str| model.predict(&Table::from_csv(csv).unwrap(), &Run::new()).unwrap_err().to_string();
    assert_eq!(
        predict("age,note\n1,x\n"),
        "text: the columns 'city', 'member' that the model was trained on are missing"
    );
    assert_eq!(predict("age,city,member,note\nold,Rome,no,x\n"), "text, line 2, column 'age': 'old' is not a number");
}

#[test]
fn a_column_that_is_constant_in_the_training_rows_is_only_centred() {
    let train = Table::from_csv("x,y\n3,1.5\n3,2.5\n4,0.5\n").unwrap();
    let encoder = Encoder::learn(&train.take(&[0, 1]), &Run::new()).unwrap();
    let rows = encoder.encode(&train, Holes::Filled, &Run::new()).unwrap();
    let part = rows.features().dense_part().unwrap();
    assert_eq!((part.get(0, 0), part.get(2, 0)), (0.0, 1.0));
}

#[test]
fn a_category_of_many_values_is_sparse_and_a_text_never_dense() {
    let lines: String = (0..120).map(|i| format!("c{},{}\n", i % 40, i % 7)).collect();
    let table = Table::from_csv(&format!("c,x\n{lines}")).unwrap();
    let rows = Encoder::learn(&table, &Run::new()).unwrap().encode(&table, Holes::Filled, &Run::new()).unwrap();
    assert_eq!(rows.features().dense_columns(), 1);
    assert_eq!(rows.features().sparse_part().unwrap().stored(), 120);
}
