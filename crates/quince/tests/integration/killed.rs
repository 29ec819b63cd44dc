//! A process that is killed while it saves, two hundred times: there is always a whole model, the old one or the new one.

use crate::scratch;
use quince::learn::Target;
use quince::linear::Ridge;
use quince::run::Stream;
use quince::{Matrix, Model, Run};
use std::process::{Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "QUINCE_TEST_SAVE_IN";
const KILLS: usize = 200;

/// A model of a few hundred kilobytes, so that a kill often falls into the middle of a write.
fn model(seed: u64) -> Model {
    let mut stream = Stream::new(seed, 0);
    let x = Matrix::new(3, 40_000, (0..120_000).map(|_| stream.uniform()).collect()).unwrap();
    let y = Target::numbers(Matrix::column_vector(vec![1.0, 2.0, 4.0])).unwrap();
    Model::fit_features(&x.features(), &y, None, &Ridge::default(), &Run::new().seed(seed)).unwrap()
}

/// Not a test of its own: what the test below starts and kills. It saves one model after the other, for ever.
#[test]
fn the_process_that_saves() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let models = [model(1), model(2)];
    println!("ready");
    for k in 0.. {
        models[k % 2].save(std::path::Path::new(&folder).join("m.quince")).unwrap();
    }
}

#[test]
fn a_killed_save_leaves_the_old_model_or_the_new_one() {
    let folder = scratch("killed");
    let path = folder.join("m.quince");
    let whole = [model(1).to_bytes(), model(2).to_bytes()];
    model(1).save(&path).unwrap();
    let mut stream = Stream::new(77, 0);
    let mut cut_short = 0;
    // On a busy machine most kills fall before the first save: then there are more of them.
    for kill in 0..20 * KILLS {
        if kill >= KILLS && cut_short > 0 {
            break;
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "killed::the_process_that_saves", "--nocapture"])
            .env(FOLDER, &folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until_ready(child.stdout.take().unwrap());
        std::thread::sleep(Duration::from_micros(200 + stream.below(8000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = std::fs::read(&path).unwrap();
        assert!(whole.contains(&found), "kill {kill} left a file of {} bytes", found.len());
        Model::load(&path).unwrap();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let part = entry.unwrap().path();
            if part.extension().is_some_and(|ending| ending == "part") {
                cut_short += 1;
                std::fs::remove_file(part).unwrap();
            }
        }
    }
    assert!(cut_short > 0, "no kill fell into a save: the test did not test anything");
}

fn wait_until_ready(output: impl std::io::Read) {
    use std::io::BufRead;
    let mut lines = std::io::BufReader::new(output).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("ready"))), "the saving process did not start");
}
