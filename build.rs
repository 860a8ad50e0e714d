//! Lets the linker leave Node's symbols open, which only the addon needs.

fn main() {
    if std::env::var_os("CARGO_FEATURE_BINDING").is_some() {
        napi_build::setup();
    }
}
