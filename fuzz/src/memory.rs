//! Memory is counted: an input of a few kilobytes that makes a reader ask for hundreds of megabytes is a finding, even where
//! the system would have given them.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most bytes that may be held at a time.
const MAX_HELD_BYTES: usize = 512 << 20;

static HELD: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn add(bytes: usize) {
    let before = HELD.fetch_add(bytes, Ordering::Relaxed);
    if before.saturating_add(bytes) > MAX_HELD_BYTES {
        // The message of a panic would need memory itself. libFuzzer keeps the input when it sees the signal.
        HELD.store(0, Ordering::Relaxed);
        eprintln!("memory: {bytes} bytes are asked for, {before} are held");
        std::process::abort();
    }
}

// SAFETY: all work is the system's; sizes are only counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.realloc(at, layout, size) }
    }
}
