//! One file a command: read, call the library, show.

pub mod cluster;
pub mod compare;
pub mod curve;
pub mod describe;
pub mod evaluate;
pub mod explain;
pub mod impute;
pub mod models;
pub mod predict;
pub mod sample;
pub mod train;
