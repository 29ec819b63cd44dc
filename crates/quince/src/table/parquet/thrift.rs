//! A look at the headers of a Parquet file before the `parquet` crate reads them.
//!
//! Headers are written in Thrift's compact protocol. That crate allocates as many elements as a list claims to have, and
//! takes as many steps to skip them, so a few bytes could ask for all memory or for hours. Here a list has no more elements
//! than bytes, and a field that the crate reads by its number has the type it is read as: both see the same header.

/// The largest depth of nested values.
const MAX_DEPTH: u8 = 32;

const YES_NO: u8 = 1;
const BYTE: u8 = 3;
const SHORT: u8 = 4;
const INT: u8 = 5;
const LONG: u8 = 6;
const DOUBLE: u8 = 7;
const BYTES: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// The types of fields 1, 2, 3 and so on of a struct, and the shapes of those that are structs or lists of structs. What has no
/// shape may be anything.
pub(super) struct StructType(&'static [u8], &'static [(i16, &'static StructType)]);

const ANY: StructType = StructType(&[], &[]);
const STATISTICS: StructType = StructType(&[BYTES, BYTES, LONG, LONG, BYTES, BYTES, YES_NO, YES_NO], &[]);

pub(super) const PAGE: StructType = StructType(
    &[INT, INT, INT, INT, STRUCT, STRUCT, STRUCT, STRUCT],
    &[
        (5, &StructType(&[INT, INT, INT, INT, STRUCT], &[(5, &STATISTICS)])),
        (7, &StructType(&[INT, INT, YES_NO], &[])),
        (8, &StructType(&[INT, INT, INT, INT, INT, INT, YES_NO, STRUCT], &[(8, &STATISTICS)])),
    ],
);

pub(super) const FOOTER: StructType = StructType(
    &[INT, LIST, LONG, LIST, LIST, BYTES, LIST, STRUCT, BYTES],
    &[(2, &ELEMENT), (4, &ROW_GROUP), (5, &PAIR)],
);

const PAIR: StructType = StructType(&[BYTES, BYTES], &[]);
const ELEMENT: StructType = StructType(&[INT, INT, INT, BYTES, INT, INT, INT, INT, INT, STRUCT], &[(10, &LOGICAL)]);
const LOGICAL: StructType = StructType(
    &[STRUCT; 18],
    &[
        (5, &StructType(&[INT, INT], &[])),
        (7, &StructType(&[YES_NO, STRUCT], &[])),
        (8, &StructType(&[YES_NO, STRUCT], &[])),
        (10, &StructType(&[BYTE, YES_NO], &[])),
        (16, &StructType(&[BYTE], &[])),
        (17, &StructType(&[BYTES], &[])),
        (18, &StructType(&[BYTES, INT], &[])),
    ],
);
const ROW_GROUP: StructType = StructType(
    &[LIST, LONG, LONG, LIST, LONG, LONG, SHORT],
    &[
        (1, &StructType(&[BYTES, LONG, STRUCT, LONG, INT, LONG, INT, STRUCT, BYTES], &[(3, &COLUMN)])),
        (4, &StructType(&[INT, YES_NO, YES_NO], &[])),
    ],
);
const COLUMN: StructType = StructType(
    &[INT, LIST, LIST, INT, LONG, LONG, LONG, LIST, LONG, LONG, LONG, STRUCT, LIST, LONG, INT, STRUCT, STRUCT],
    &[
        (8, &PAIR),
        (12, &STATISTICS),
        (13, &StructType(&[INT, INT, INT], &[])),
        (16, &StructType(&[LONG, LIST, LIST], &[])),
        (17, &StructType(&[STRUCT, LIST], &[(1, &StructType(&[DOUBLE; 8], &[]))])),
    ],
);

/// A reader of bytes in Thrift's compact protocol.
pub(super) struct ThriftReader<'a> {
    pub(super) rest: &'a [u8],
}

impl ThriftReader<'_> {
    /// Goes past a struct, and calls `found` with the numbers of the field and of the field around it (0 where there is none)
    /// for every whole number. `None` if the bytes are no such struct.
    pub(super) fn fields(&mut self, shape: &StructType, found: &mut dyn FnMut(i16, i16, i64)) -> Option<()> {
        self.structure(shape, 0, 0, found)
    }

    fn structure(
        &mut self,
        StructType(types, shapes): &StructType,
        around: i16,
        depth: u8,
        found: &mut dyn FnMut(i16, i16, i64),
    ) -> Option<()> {
        let mut field = 0i16;
        loop {
            let head = self.byte()?;
            let kind = head & 15;
            if kind == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => i16::try_from(self.signed()?).ok()?,
                step => field.checked_add(i16::from(step))?,
            };
            let wanted = usize::try_from(field).ok()?.checked_sub(1).and_then(|place| types.get(place));
            if wanted.is_some_and(|&wanted| wanted != kind && (wanted, kind) != (YES_NO, 2)) {
                return None;
            }
            let shape = shapes.iter().find(|(number, _)| *number == field).map_or(&ANY, |(_, shape)| shape);
            match kind {
                SHORT | INT | LONG => found(around, field, self.signed()?),
                STRUCT if depth < MAX_DEPTH => self.structure(shape, field, depth + 1, found)?,
                // The yes or no of a field is its type.
                YES_NO | 2 => {}
                kind => self.value(kind, shape, depth)?,
            }
        }
    }

    fn value(&mut self, kind: u8, shape: &StructType, depth: u8) -> Option<()> {
        match kind {
            BYTE => self.skip(1),
            SHORT | INT | LONG => self.number().map(|_| ()),
            DOUBLE => self.skip(8),
            BYTES => {
                let length = self.number()?;
                self.skip(usize::try_from(length).ok()?)
            }
            LIST | SET if depth < MAX_DEPTH => {
                let head = self.byte()?;
                let length = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                // No header has a list of yes and no, which the crate would skip without taking a byte.
                if length > self.rest.len() as u64 || (length > 0 && head & 15 <= 2) {
                    return None;
                }
                (0..length).try_for_each(|_| self.value(head & 15, shape, depth + 1))
            }
            STRUCT if depth < MAX_DEPTH => self.structure(shape, 0, depth + 1, &mut |_, _, _| {}),
            UUID => self.skip(16),
            _ => None,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    /// A whole number, seven bits a byte.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }

    /// A number of either sign: 0, -1, 1, -2 and so on.
    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(bytes: &[u8], shape: &StructType) -> Option<Vec<(i16, i16, i64)>> {
        let mut numbers = Vec::new();
        let mut walk = ThriftReader { rest: bytes };
        walk.fields(shape, &mut |around, field, number| numbers.push((around, field, number)))?;
        walk.rest.is_empty().then_some(numbers)
    }

    #[test]
    fn the_header_of_a_page_is_read() {
        // Type 0, 48 bytes, 46 packed; a data page of 4 values in encoding 0.
        let page = [0x15, 0, 0x15, 96, 0x15, 92, 0x2c, 0x15, 8, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];
        let numbers = walk(&page, &PAGE).unwrap();
        assert_eq!(numbers[..4], [(0, 1, 0), (0, 2, 48), (0, 3, 46), (5, 1, 4)]);
        assert!((0..page.len()).all(|length| walk(&page[..length], &PAGE).is_none()));
    }

    #[test]
    fn a_list_has_no_more_elements_than_bytes() {
        let list = |head: &[u8], elements: usize| {
            let bytes = [&[0x09, 80][..], head, &vec![1; elements], &[0]].concat();
            walk(&bytes, &ANY)
        };
        assert!(list(&[0x33], 3).is_some());
        assert!(list(&[0xf3, 40], 40).is_some());
        assert!(list(&[0xf3, 0xff, 0xff, 0xff, 0xff, 7], 40).is_none());
        // Yes and no.
        assert!(list(&[0x01], 0).is_some());
        assert!(list(&[0x31], 3).is_none());
    }

    #[test]
    fn a_field_has_the_type_that_it_is_read_as() {
        assert!(walk(&[0x15, 2, 0], &FOOTER).is_some());
        assert!(walk(&[0x16, 2, 0], &FOOTER).is_none());
        // A number where the row groups should be.
        assert!(walk(&[0x15, 2, 0x36, 2, 0], &FOOTER).is_none());
        // Structs within structs.
        assert!(walk(&[&[0xfc; 40][..], &[0; 41]].concat(), &ANY).is_none());
    }
}
