//! Loads the SavedModel of the conformance suite and runs it: saved_model DIRECTORY

use std::error::Error;
use tensorloom::{Graph, SavedModelBundle, SessionOptions, SessionRunArgs, Tensor};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: saved_model DIRECTORY")?;
    let mut graph = Graph::new();
    let model = SavedModelBundle::load(&SessionOptions::new(), &["serve"], &mut graph, directory)?;
    let x = Tensor::new(&[2, 3]).with_values(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let mut step = SessionRunArgs::new();
    step.add_feed(&graph.operation_by_name_required("x")?, 0, &x);
    let scores = step.request_fetch(&graph.operation_by_name_required("scores")?, 0);
    model.session.run(&mut step)?;
    println!("{:?}", step.fetch::<f32>(scores)?);
    Ok(())
}
