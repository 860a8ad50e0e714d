//! Leaves the symbols of Node-API open: the host that loads the addon has them.

fn main() {
    napi_build::setup();
}
