//! Runs the command lines that policy allows in a real bash, and checks that they start only the programs that
//! the rules allow. libFuzzer looks for lines that take new paths through the analysis.

#![no_main]

use std::cell::OnceCell;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use toolwright_bash_recorder::{
    RecordingBash,
    command_lines::{Dice, change, line, wrap},
};

thread_local! {
    static BASH: OnceCell<RecordingBash> = const { OnceCell::new() };
}

fuzz_target!(|line: &str| {
    BASH.with(|bash| {
        let bash = bash.get_or_init(RecordingBash::new);
        // A command line cannot contain NUL.
        if !line.contains('\0') && bash.allows(line) {
            bash.check_allowed(line);
        }
    });
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    // `Dice` with a seed of zero returns only zeros.
    let mut dice = Dice(u64::from(seed) + 1);
    if dice.roll(3) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut text = String::from_utf8_lossy(&data[..size]).into_owned();
    match dice.roll(8) {
        0 => text = line(&mut dice),
        1 => wrap(&mut text, &mut dice),
        _ => change(&mut text, &mut dice),
    }
    let size = text.floor_char_boundary(max_size.min(text.len()));
    data[..size].copy_from_slice(&text.as_bytes()[..size]);
    size
});
