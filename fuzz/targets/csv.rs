//! CSV. The first three bytes say: names or none and which delimiter; the delimiter if it is any; a kind for the first column.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quince::table::{Format, Header, ReadOptions};
use quince_fuzz::{kind, read, seeds, take};

const SEEDS: [&str; 5] = [
    "age,city,note\n31,Oslo,\"a, \"\"b\"\"\"\n?,Rome,x\n45,Oslo,y y\n22,Rome,\"line\nbreak\"\n",
    "a;b\r\n1,5;2\r\n3;4\r\n",
    "\u{feff}naïve\tcafé\n1\t2\n3\tNaN\n\"4\"\t\"a \"\"b\"\"\"\n",
    "id,x\n1,0\n2,1\n3,1e999\n",
    "x\n1\n\n0:1 3:0.5\nyes\n",
];

fuzz_target!(
    init: seeds::plant([[0, 0, 15], [1, 0, 5], [12, b' ', 0]].iter().flat_map(|head| seeds::texts(head, &SEEDS))),
    |input: &[u8]| {
        let mut rest = input;
        let (choice, any, wish) = (take(&mut rest), take(&mut rest), take(&mut rest));
        let delimiter = [None, Some(b','), Some(b'\t'), Some(b';'), Some(b'|'), Some(b' '), Some(any), None];
        let options = ReadOptions {
            format: Some(Format::Csv),
            header: if choice & 1 == 0 { Header::Names } else { Header::None },
            delimiter: delimiter[usize::from(choice >> 1) % delimiter.len()],
            ..ReadOptions::default()
        };
        read(rest, &options, kind(wish));
    }
);
