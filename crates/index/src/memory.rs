//! Memory that a phase has left behind goes back to the system before the next one fills as much again.

/// Declarations from which on memory goes back. With fewer there is room enough (kafka has 106,000: 963 MiB at the peak instead
/// of 848), and new pages for what was given back cost a hundredth of an index.
pub(crate) const MUCH: usize = 200_000;

/// glibc keeps freed memory that lies between what is in use; on kubernetes that was 650 MB of the peak of 1.8 GB.
/// Other allocators give it back by themselves.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library is asked")]
pub(crate) fn give_back() {
    // SAFETY: takes no pointer, and may be called by any thread at any time.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn give_back() {}

/// For a process that makes one pair of images after the other: glibc gives blocks of their size back at once, and to get
/// new pages for them was a third of making them (kubernetes, two times 60 MB a commit).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library is asked")]
pub(crate) fn keep_large_blocks() {
    const LARGE: libc::c_int = 1 << 30;
    // SAFETY: takes no pointer, and may be called by any thread at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keep_large_blocks() {}
