//! Train on two thirds of iris, test on the rest: `cargo run --release -p quince --features tables --example iris`

use quince::{Model, Result, Run, Table, evaluate, linear::Ridge};

fn main() -> Result<()> {
    let iris = Table::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/iris.csv"))?.labelled("species", None)?;
    let split = evaluate::hold_out(&iris.target, 1.0 / 3.0, &mut Run::new().stream(0))?;
    let model = Model::fit(&iris.take(&split.train), None, &Ridge::default(), &Run::new())?;
    let test = iris.take(&split.test);
    let prediction = model.predict(&test.table)?;
    println!("{}", evaluate::evaluate(&test.target, &prediction, None)?);
    Ok(())
}
