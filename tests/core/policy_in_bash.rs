//! What policy allows is run by a real bash, whose every program only records its name: nothing but
//! what the rules name may ever show up, and no file may be written. `fuzz/` does the same for longer.

use std::collections::HashSet;

use crate::{
    command_lines::{Dice, STARTS, line},
    recording_bash::RecordingBash,
};

#[test]
fn what_is_not_allowed_would_be_recorded() {
    let bash = RecordingBash::new();
    let line = "git status; ls | xargs -n1 rm; bash -c evil > f; (python3 x &> /dev/null &)";
    let (recorded, files) = bash.run(line, "60");
    let expected = ["git status", "ls ", "rm ", "evil ", "python3 x"].map(str::to_owned).into();
    assert_eq!((recorded, files), (expected, vec!["f".to_owned()]));
}

#[test]
fn allowed_lines_run_nothing_but_the_allowed_programs() {
    // `TOOLWRIGHT_FUZZ_LINES=100000` for a long run.
    let wanted = std::env::var("TOOLWRIGHT_FUZZ_LINES").ok().and_then(|it| it.parse().ok());
    let wanted: usize = wanted.unwrap_or(250);
    let seed = std::env::var("TOOLWRIGHT_FUZZ_SEED").ok().and_then(|it| it.parse().ok());
    let bash = RecordingBash::new();
    let mut dice = Dice(seed.unwrap_or(0x9e37_79b9_7f4a_7c15));
    let mut run = HashSet::new();
    for start in STARTS {
        assert!(bash.allows(start), "{start:?} ought to be allowed");
    }
    while run.len() < wanted {
        let line = line(&mut dice);
        if bash.allows(&line) && run.insert(line.clone()) {
            bash.check_allowed(&line);
        }
    }
}
