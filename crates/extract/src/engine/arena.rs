//! Memory of one syntax tree, taken from one block and given back in one stroke.
//!
//! tree-sitter asks for memory for every node, and lets go of a tree node by node. A tree is read once, right after it was
//! made: inside of `Arena::within` its nodes are put one behind the other into a block that is kept from file to file, and
//! nobody has to let go of them. Outside of it, and for what the block has no room for, the C library is asked as always.

#![expect(unsafe_code, reason = "an allocator hands out memory")]

use std::alloc::{Layout, handle_alloc_error};
use std::cell::Cell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::{copy_nonoverlapping, null_mut};
use std::sync::Once;

/// Twenty to thirty bytes of tree come of a byte of code. Pages that were never written to take no memory.
const MAX_BYTES: usize = 16 << 20;

/// As `malloc` promises it.
#[repr(align(16))]
struct Unit(#[expect(dead_code, reason = "it is room, whatever for")] MaybeUninit<[u8; 16]>);

/// The block of one thread; made when first needed.
#[derive(Default)]
pub(crate) struct Arena {
    block: Vec<Unit>,
}

impl Arena {
    /// Runs with the block as the memory of tree-sitter on this thread.
    ///
    /// # Safety
    ///
    /// What tree-sitter makes inside must be dropped or forgotten inside, on this thread.
    pub(crate) unsafe fn within<T>(&mut self, run: impl FnOnce() -> T) -> T {
        install();
        // What was made around this call may be let go inside of it, so that the block stays the same.
        if ROOM.with(Room::is_open) {
            return run();
        }
        if self.block.capacity() == 0 {
            // Without a block nothing fits into it, which is no error.
            let _ = self.block.try_reserve_exact(MAX_BYTES / size_of::<Unit>());
        }
        let begin: *mut u8 = self.block.as_mut_ptr().cast();
        ROOM.with(|room| room.open(begin, self.block.capacity() * size_of::<Unit>()));
        let _open = Open;
        run()
    }
}

/// Lets go of a tree. When all of it lies in the block there is nothing to do.
pub(crate) fn let_go(tree: tree_sitter::Tree) {
    if ROOM.with(|room| room.is_open() && !room.is_spilled.get()) {
        std::mem::forget(tree);
    }
}

/// The block in use by this thread. Outside of `within` it has no bytes, so that nothing fits and nothing lies in it.
struct Room {
    begin: Cell<*mut u8>,
    end: Cell<*mut u8>,
    /// Where the free part begins.
    free: Cell<*mut u8>,
    /// What was given out last: it can grow, and be taken back.
    last: Cell<*mut u8>,
    /// Whether something did not fit.
    is_spilled: Cell<bool>,
}

thread_local! {
    static ROOM: Room = const {
        Room {
            begin: Cell::new(null_mut()),
            end: Cell::new(null_mut()),
            free: Cell::new(null_mut()),
            last: Cell::new(null_mut()),
            is_spilled: Cell::new(false),
        }
    };
}

/// The block is in use until this is dropped.
struct Open;

impl Drop for Open {
    fn drop(&mut self) {
        ROOM.with(|room| room.open(null_mut(), 0));
    }
}

impl Room {
    fn open(&self, begin: *mut u8, length: usize) {
        self.begin.set(begin);
        self.end.set(begin.wrapping_add(length));
        self.free.set(begin);
        self.last.set(null_mut());
        self.is_spilled.set(false);
    }

    fn is_open(&self) -> bool {
        !self.begin.get().is_null()
    }

    fn holds(&self, memory: *mut u8) -> bool {
        self.begin.get() <= memory && memory < self.end.get()
    }

    /// Memory of this size; none when there is no room.
    fn take(&self, size: usize) -> Option<*mut u8> {
        let free = self.free.get();
        let after = self.after(free, size)?;
        self.free.set(after);
        self.last.set(free);
        Some(free)
    }

    /// Where memory of this size at `begin` ends; no two begin at the same place.
    fn after(&self, begin: *mut u8, size: usize) -> Option<*mut u8> {
        let left = self.end.get() as usize - begin as usize;
        if size >= left {
            self.is_spilled.set(true);
            return None;
        }
        // Less than what is left, which is a number of whole units.
        Some(begin.wrapping_add(size.max(1).next_multiple_of(size_of::<Unit>())))
    }

    /// Memory of another size with the same content.
    fn take_again(&self, memory: *mut u8, size: usize) -> *mut u8 {
        if memory == self.last.get()
            && let Some(after) = self.after(memory, size)
        {
            self.free.set(after);
            return memory;
        }
        // How long it was nobody knows, but no longer than up to the free part.
        let longest = self.free.get() as usize - memory as usize;
        // SAFETY: any size may be asked for.
        let new = self.take(size).unwrap_or_else(|| checked(unsafe { libc::malloc(size) }, size).cast());
        // SAFETY: both have that many bytes, and the new one begins where the copied bytes end or outside of the block.
        unsafe { copy_nonoverlapping(memory, new, size.min(longest)) };
        new
    }

    fn give_back(&self, memory: *mut u8) {
        if memory == self.last.get() {
            self.free.set(memory);
            self.last.set(null_mut());
        }
    }
}

/// From now on tree-sitter asks here. Objects that it made before are not in its way: to them and to who works outside of
/// `within` these functions are the C library's own, which is what tree-sitter asks by default.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let allocator = tree_sitter::Allocator { malloc, calloc, realloc, free };
        // SAFETY: the four belong together, never give null and align as `malloc` does.
        unsafe { tree_sitter::set_allocator(Some(allocator)) };
    });
}

/// There is no tree without memory.
fn checked(memory: *mut c_void, size: usize) -> *mut c_void {
    if memory.is_null() && size > 0 {
        handle_alloc_error(Layout::from_size_align(size, 1).unwrap_or(Layout::new::<Unit>()));
    }
    memory
}

unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    match ROOM.with(|room| room.take(size)) {
        Some(memory) => memory.cast(),
        // SAFETY: any size may be asked for.
        None => checked(unsafe { libc::malloc(size) }, size),
    }
}

unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    let length = count.saturating_mul(size);
    match ROOM.with(|room| room.take(length)) {
        Some(memory) => {
            // SAFETY: so many bytes were taken.
            unsafe { memory.write_bytes(0, length) };
            memory.cast()
        }
        // SAFETY: any size may be asked for.
        None => checked(unsafe { libc::calloc(count, size) }, length),
    }
}

unsafe extern "C" fn realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    if memory.is_null() {
        // SAFETY: any size may be asked for.
        return unsafe { malloc(size) };
    }
    ROOM.with(|room| match room.holds(memory.cast()) {
        true => room.take_again(memory.cast(), size).cast(),
        // SAFETY: what does not lie in the block is the C library's.
        false => checked(unsafe { libc::realloc(memory, size) }, size),
    })
}

unsafe extern "C" fn free(memory: *mut c_void) {
    ROOM.with(|room| match room.holds(memory.cast()) {
        true => room.give_back(memory.cast()),
        // SAFETY: what does not lie in the block is the C library's, or null.
        false => unsafe { libc::free(memory) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(memory: *mut c_void, text: &[u8]) {
        unsafe { copy_nonoverlapping(text.as_ptr(), memory.cast(), text.len()) };
    }

    fn read(memory: *mut c_void, length: usize) -> Vec<u8> {
        unsafe { std::slice::from_raw_parts(memory.cast::<u8>(), length) }.to_vec()
    }

    fn is_inside(memory: *mut c_void) -> bool {
        ROOM.with(|room| room.holds(memory.cast()))
    }

    fn is_spilled() -> bool {
        ROOM.with(|room| room.is_spilled.get())
    }

    fn within<T>(arena: &mut Arena, run: impl FnOnce() -> T) -> T {
        unsafe { arena.within(run) }
    }

    #[test]
    fn what_is_taken_inside_is_aligned_and_apart() {
        within(&mut Arena::default(), || unsafe {
            let taken: Vec<usize> = [0, 1, 15, 16, 17, 80].map(|it| malloc(it) as usize).into();
            assert!(taken.iter().all(|it| it % 16 == 0 && is_inside(*it as *mut c_void)));
            assert!(taken.windows(2).all(|it| it[0] < it[1]), "none for nothing too");
            assert!(!is_spilled());
        });
    }

    #[test]
    fn other_sizes_keep_the_content() {
        within(&mut Arena::default(), || unsafe {
            let memory = malloc(5);
            write(memory, b"hello");
            let longer = realloc(memory, 1000);
            assert_eq!(longer, memory, "the last grows where it is");
            let behind = malloc(3);
            write(behind, b"abc");
            let moved = realloc(longer, 2000);
            assert_ne!(moved, longer);
            let shorter = realloc(behind, 2);
            assert_eq!((read(moved, 5), read(shorter, 2)), (b"hello".to_vec(), b"ab".to_vec()));
            assert_eq!(read(behind, 3), b"abc", "what was copied from is not written to");
            assert!(is_inside(realloc(null_mut(), 8)));
        });
    }

    #[test]
    fn the_last_is_taken_back_and_zeroed_when_asked_for() {
        within(&mut Arena::default(), || unsafe {
            let first = malloc(32);
            let last = malloc(32);
            write(last, &[7; 32]);
            free(first);
            free(last);
            free(null_mut());
            let again = calloc(4, 8);
            assert_eq!((again, read(again, 32)), (last, vec![0; 32]));
        });
    }

    #[test]
    fn what_has_no_room_is_the_c_librarys() {
        within(&mut Arena::default(), || unsafe {
            let inside = malloc(100);
            write(inside, b"hello");
            let large = malloc(MAX_BYTES);
            assert!(!is_inside(large) && is_spilled());
            let outside = realloc(inside, MAX_BYTES);
            assert!(!is_inside(outside));
            assert_eq!(read(outside, 5), b"hello");
            let zeroed = calloc(2, MAX_BYTES);
            assert_eq!(read(zeroed, 16), [0; 16]);
            assert!(is_inside(malloc(16)), "small ones fit still");
            let larger = realloc(outside, MAX_BYTES + 1);
            assert_eq!(read(larger, 5), b"hello");
            [large, larger, zeroed].into_iter().for_each(|it| free(it));
        });
    }

    #[test]
    fn memory_from_outside_is_let_go_inside() {
        let outside = unsafe { malloc(64) };
        assert!(!is_inside(outside));
        within(&mut Arena::default(), || unsafe {
            write(outside, b"hello");
            let longer = realloc(outside, 4096);
            assert!(!is_inside(longer));
            assert_eq!(read(longer, 5), b"hello");
            free(longer);
        });
    }

    #[test]
    fn the_block_begins_anew_each_time() {
        let mut arena = Arena::default();
        let first = within(&mut arena, || unsafe { malloc(1000) } as usize);
        let outside = unsafe { malloc(1000) };
        let second = within(&mut arena, || {
            // One inside of another goes on where that one is.
            let inner = within(&mut Arena::default(), || unsafe { malloc(8) } as usize);
            let next = unsafe { malloc(8) } as usize;
            assert!(next > inner);
            inner
        });
        assert_eq!(first, second);
        assert_ne!(first, outside as usize);
        unsafe { free(outside) };
    }

    #[test]
    fn a_panic_inside_ends_it() {
        let mut arena = Arena::default();
        let run = std::panic::AssertUnwindSafe(|| within(&mut arena, || panic!("expected")));
        assert!(std::panic::catch_unwind(run).is_err());
        assert!(!ROOM.with(Room::is_open));
    }

    /// As S-expressions, parsed in a block that holds the tree or does not, on several threads at once.
    #[test]
    fn trees_are_the_same_with_and_without_a_block() {
        let grammar = crate::registry::grammar("a.py").unwrap();
        let parsed = |source: &str| {
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(&grammar).unwrap();
            let tree = parser.parse(source, None).unwrap();
            let text = tree.root_node().to_sexp();
            let_go(tree);
            text
        };
        let small = "def f(a):\n    return [a, \"b\"]\n".repeat(10);
        let large = "x = [1, (2, 3), {4: 'five'}] # six\n".repeat(30_000);
        let plain = [parsed(&small), parsed(&large)];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut arena = Arena::default();
                    for _ in 0..2 {
                        let spilled = within(&mut arena, || {
                            assert!(parsed(&large) == plain[1]);
                            is_spilled()
                        });
                        assert!(spilled, "the test is about a tree with a part outside too");
                        within(&mut arena, || {
                            assert_eq!(parsed(&small), plain[0]);
                            assert!(!is_spilled());
                        });
                    }
                });
            }
        });
    }
}
