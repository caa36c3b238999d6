//! Trains a perceptron on handwritten digits, with gradients and Adam: digits FILE
//!
//! The file is of clients/conformance/digits_data.py. The program fails when less than 97 %
//! of the digits that it has not seen are told apart.

use std::error::Error;
use tensorloom::{
    ops, DataType, Operation, Output, Result, Scope, Session, SessionOptions, SessionRunArgs, Shape,
    Tensor,
};

const PIXELS: usize = 64;
const HIDDEN: usize = 64;
const CLASSES: usize = 10;
const BATCH: usize = 100;
const EPOCHS: usize = 30;
const UNSEEN: usize = 297;

struct Digits {
    images: Vec<f32>,
    labels: Vec<i32>,
}

impl Digits {
    fn read(path: &str) -> std::io::Result<Digits> {
        let bytes = std::fs::read(path)?;
        let word = |i: usize| <[u8; 4]>::try_from(&bytes[4 * i..4 * i + 4]).expect("four bytes");
        let count = i32::from_le_bytes(word(0)) as usize;
        let pixels = count * PIXELS;
        let images = (0..pixels).map(|i| f32::from_le_bytes(word(1 + i))).collect();
        let labels = (0..count).map(|i| i32::from_le_bytes(word(1 + pixels + i))).collect();
        Ok(Digits { images, labels })
    }

    fn rows(&self, from: usize, to: usize) -> Result<(Tensor<f32>, Tensor<i32>)> {
        let images = &self.images[from * PIXELS..to * PIXELS];
        let x = Tensor::new(&[(to - from) as u64, PIXELS as u64]).with_values(images)?;
        Ok((x, Tensor::from(&self.labels[from..to])))
    }
}

struct Variable {
    handle: Operation,
    value: Output,
    shape: Vec<i32>,
}

struct Model {
    scope: Scope,
    x: Operation,
    y: Operation,
    accuracy: Operation,
    init: Vec<Operation>,
    train: Vec<Operation>,
}

/// What is learned, and how every variable begins.
#[derive(Default)]
struct Building {
    learned: Vec<Variable>,
    init: Vec<Operation>,
}

impl Building {
    fn variable(&mut self, s: &mut Scope, initial: &Operation, shape: &[i32]) -> Result<Variable> {
        let dims: Vec<i64> = shape.iter().map(|&d| d.into()).collect();
        let handle = ops::VarHandleOp::new()
            .dtype(DataType::Float)
            .shape(Shape::from(&dims[..]))
            .shared_name(&format!("variable{}", self.init.len()))
            .build(s)?;
        self.init.push(ops::assign_variable_op(&handle, initial, s)?);
        let value = ops::ReadVariableOp::new().dtype(DataType::Float).build(&handle, s)?;
        Ok(Variable { handle, value: value.into(), shape: shape.to_vec() })
    }

    fn dense(&mut self, s: &mut Scope, x: &Operation, from: usize, to: usize) -> Result<Operation> {
        let shape = [from as i32, to as i32];
        let dims = s.constant(Tensor::from(&shape[..]))?;
        let normal = ops::RandomStandardNormal::new()
            .dtype(DataType::Float)
            .seed(1)
            .seed2(from as i64)
            .build(dims, s)?;
        let scale = s.constant(0.1f32)?;
        let initial = ops::mul(normal, scale, s)?;
        let weights = self.variable(s, &initial, &shape)?;
        let zeros = s.constant(Tensor::<f32>::new(&[to as u64]))?;
        let bias = self.variable(s, &zeros, &shape[1..])?;
        let product = ops::mat_mul(x, &weights.value, s)?;
        let sum = ops::bias_add(product, &bias.value, s)?;
        self.learned.extend([weights, bias]);
        Ok(sum)
    }

    fn adam(&mut self, s: &mut Scope, loss: Operation) -> Result<Vec<Operation>> {
        let (beta1, beta2) = (s.constant(0.9f32)?, s.constant(0.999f32)?);
        let power1 = self.variable(s, &beta1, &[])?;
        let power2 = self.variable(s, &beta2, &[])?;
        let (rate, epsilon, zero) = (s.constant(0.005f32)?, s.constant(1e-8f32)?, s.constant(0f32)?);
        let learned = std::mem::take(&mut self.learned);
        let values: Vec<Output> = learned.iter().map(|each| each.value.clone()).collect();
        let mut steps = Vec::new();
        for (each, gradient) in learned.iter().zip(s.gradients(&[loss.into()], &values)?) {
            let dims = s.constant(Tensor::from(&each.shape[..]))?;
            let zeros = ops::fill(dims, &zero, s)?;
            let first = self.variable(s, &zeros, &each.shape)?;
            let second = self.variable(s, &zeros, &each.shape)?;
            steps.push(ops::resource_apply_adam(
                &each.handle, &first.handle, &second.handle, &power1.value, &power2.value, &rate,
                &beta1, &beta2, &epsilon, gradient, s,
            )?);
        }
        let s = &mut s.with_control_dependencies(&steps);
        let (next1, next2) = (ops::mul(&power1.value, beta1, s)?, ops::mul(&power2.value, beta2, s)?);
        Ok(vec![
            ops::assign_variable_op(&power1.handle, next1, s)?,
            ops::assign_variable_op(&power2.handle, next2, s)?,
        ])
    }
}

fn build() -> Result<Model> {
    let mut scope = Scope::new_root_scope();
    let s = &mut scope;
    let mut parts = Building::default();
    let x = ops::Placeholder::new().dtype(DataType::Float).build(s)?;
    let y = ops::Placeholder::new().dtype(DataType::Int32).build(s)?;
    let hidden = parts.dense(&mut s.new_sub_scope("hidden"), &x, PIXELS, HIDDEN)?;
    let layer = ops::relu(hidden, s)?;
    let logits = parts.dense(&mut s.new_sub_scope("logits"), &layer, HIDDEN, CLASSES)?;
    let (depth, on, off) = (s.constant(CLASSES as i32)?, s.constant(1f32)?, s.constant(0f32)?);
    let targets = ops::one_hot(&y, depth, on, off, s)?;
    let each = ops::softmax_cross_entropy_with_logits(&logits, targets, s)?;
    let first = s.constant(Tensor::from(&[0i32][..]))?;
    let loss = ops::mean(each, &first, s)?;
    let train = parts.adam(s, loss)?;
    let axis = s.constant(1i32)?;
    let best = ops::ArgMax::new().output_type(DataType::Int32).build(&logits, axis, s)?;
    let right = ops::equal(best, &y, s)?;
    let right = ops::Cast::new().dst_t(DataType::Float).build(right, s)?;
    let accuracy = ops::mean(right, first, s)?;
    Ok(Model { scope, x, y, accuracy, init: parts.init, train })
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let digits = Digits::read(&std::env::args().nth(1).ok_or("usage: digits FILE")?)?;
    let model = build()?;
    let session = Session::new(&SessionOptions::new(), &model.scope.graph())?;
    let run = |targets: &[Operation], x: &Tensor<f32>, y: &Tensor<i32>| {
        let mut step = SessionRunArgs::new();
        step.add_feed(&model.x, 0, x);
        step.add_feed(&model.y, 0, y);
        targets.iter().for_each(|target| step.add_target(target));
        session.run(&mut step)
    };
    let seen = digits.labels.len() - UNSEEN;
    run(&model.init, &Tensor::new(&[0, 64]), &Tensor::new(&[0]))?;
    for _ in 0..EPOCHS {
        for at in (0..=seen - BATCH).step_by(BATCH) {
            let (x, y) = digits.rows(at, at + BATCH)?;
            run(&model.train, &x, &y)?;
        }
    }
    let (x, y) = digits.rows(seen, seen + UNSEEN)?;
    let mut step = SessionRunArgs::new();
    step.add_feed(&model.x, 0, &x);
    step.add_feed(&model.y, 0, &y);
    let token = step.request_fetch(&model.accuracy, 0);
    session.run(&mut step)?;
    let accuracy = step.fetch::<f32>(token)?[0];
    println!("{:.1} % of {UNSEEN} digits that it has not seen", 100.0 * accuracy);
    session.close()?;
    if accuracy < 0.97 {
        return Err("fewer than 97 %".into());
    }
    Ok(())
}
