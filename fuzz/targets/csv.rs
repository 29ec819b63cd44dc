//! CSV. The first three bytes say: names or none, which delimiter, and whether what follows is packed; the delimiter if it is
//! any; a kind for the first column.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quince::table::{Format, Header, ReadOptions};
use quince_fuzz::{gzip, kind, read, seeds, take};

const SEEDS: [&str; 5] = [
    "age,city,note\n31,Oslo,\"a, \"\"b\"\"\"\n?,Rome,x\n45,Oslo,y y\n22,Rome,\"line\nbreak\"\n",
    "a;b\r\n1,5;2\r\n3;4\r\n",
    "\u{feff}naïve\tcafé\n1\t2\n3\tNaN\n\"4\"\t\"a \"\"b\"\"\"\n",
    "id,x\n1,0\n2,1\n3,1e999\n",
    "x\n1\n\n0:1 3:0.5\nyes\n",
];

/// What follows is the inside of a gzip file, or a whole one.
const INSIDE: u8 = 0x40;
const WHOLE: u8 = 0x80;

fuzz_target!(
    init: {
        let plain = [[0, 0, 15], [1, 0, 5], [12, b' ', 0]];
        let texts = plain.iter().flat_map(|head| seeds::texts(head, &SEEDS));
        let packed = SEEDS.iter().flat_map(|text| {
            let inside = gzip::packed(text.as_bytes());
            let whole = gzip::with_ends(&inside);
            [[&[INSIDE, 0, 15], &inside[..]].concat(), [&[WHOLE, 0, 15], &whole[..]].concat()]
        });
        seeds::plant(texts.chain(packed));
    },
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
        match choice & (INSIDE | WHOLE) {
            INSIDE => read(&gzip::with_ends(rest), &options, kind(wish)),
            _ => read(rest, &options, kind(wish)),
        }
    }
);
