//! Finds libtensorloom.so in the folder TENSORLOOM_LIB_DIR, or where the linker looks.

fn main() {
    println!("cargo:rerun-if-env-changed=TENSORLOOM_LIB_DIR");
    println!("cargo:rustc-link-lib=dylib=tensorloom");
    if let Ok(folder) = std::env::var("TENSORLOOM_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
