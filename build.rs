//! Tells the linker what only the addon needs.

use std::{env, path::Path, process::Command};

fn main() {
    if env::var_os("CARGO_FEATURE_BINDING").is_none() {
        return;
    }
    // Node's symbols stay open.
    napi_build::setup();
    // Functions that came out alike are kept once: a tenth of the code is generic.
    if links_with_own_lld() {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--icf=all");
    }
}

/// True where rustc links with the lld it brings: other linkers know no such option.
fn links_with_own_lld() -> bool {
    let variable = |name| env::var(name).unwrap_or_default();
    let target = variable("TARGET");
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let is_default = target == "x86_64-unknown-linux-gnu" && variable("HOST") == target;
    if !is_default || flags.contains("link") {
        return false;
    }
    let asked = Command::new(variable("RUSTC")).args(["--print", "target-libdir"]).output();
    let libraries = asked.map(|it| String::from_utf8_lossy(&it.stdout).into_owned());
    libraries.is_ok_and(|it| {
        Path::new(it.trim()).parent().is_some_and(|it| it.join("bin/gcc-ld/ld.lld").exists())
    })
}
