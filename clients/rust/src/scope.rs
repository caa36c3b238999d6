use crate::{AttrValue, Graph, Operation, Output, Result, Tensor, TensorType};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The attributes of an operation that are given; of the builders of [`crate::ops`].
#[derive(Clone, Default)]
pub struct Attrs(Vec<(&'static str, AttrValue)>);

impl Attrs {
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<AttrValue>) {
        self.0.push((name, value.into()));
    }
}

/// An input of an operation: one tensor, or a list of them.
pub enum Input {
    #[allow(missing_docs)]
    One(Output),
    #[allow(missing_docs)]
    List(Vec<Output>),
}

struct Shared {
    graph: Graph,
    taken: HashMap<String, usize>,
}

/// Names, control inputs and a device for the operations that are added to a graph.
#[derive(Clone)]
pub struct Scope {
    shared: Rc<RefCell<Shared>>,
    prefix: String,
    op_name: Option<String>,
    device: Option<String>,
    controls: Vec<Operation>,
}

impl Scope {
    /// A scope of a new graph.
    pub fn new_root_scope() -> Scope {
        let shared = Shared { graph: Graph::new(), taken: HashMap::new() };
        Scope {
            shared: Rc::new(RefCell::new(shared)),
            prefix: String::new(),
            op_name: None,
            device: None,
            controls: Vec::new(),
        }
    }

    /// Puts a name and a slash before the names of what is added.
    pub fn new_sub_scope(&self, name: &str) -> Scope {
        let prefix = format!("{}/", self.unique(name));
        Scope { prefix, op_name: None, ..self.clone() }
    }

    /// Gives the operations a name.
    pub fn with_op_name(&self, name: &str) -> Scope {
        Scope { op_name: Some(name.to_string()), ..self.clone() }
    }

    /// Places what is added.
    pub fn with_device(&self, device: &str) -> Scope {
        Scope { device: Some(device.to_string()), ..self.clone() }
    }

    /// Runs what is added after these operations.
    pub fn with_control_dependencies(&self, controls: &[Operation]) -> Scope {
        Scope { controls: [&self.controls[..], controls].concat(), ..self.clone() }
    }

    /// The graph that the scope adds to.
    pub fn graph(&self) -> std::cell::Ref<'_, Graph> {
        std::cell::Ref::map(self.shared.borrow(), |shared| &shared.graph)
    }

    /// The graph, to change it.
    pub fn graph_mut(&self) -> std::cell::RefMut<'_, Graph> {
        std::cell::RefMut::map(self.shared.borrow_mut(), |shared| &mut shared.graph)
    }

    fn unique(&self, wanted: &str) -> String {
        let whole = format!("{}{wanted}", self.prefix);
        let mut shared = self.shared.borrow_mut();
        loop {
            let count = shared.taken.entry(whole.clone()).or_default();
            let found = match *count {
                0 => whole.clone(),
                n => format!("{whole}_{n}"),
            };
            *count += 1;
            if let Ok(None) = shared.graph.operation_by_name(&found) {
                return found;
            }
        }
    }

    /// Adds an operation.
    pub fn add(&mut self, op_type: &str, inputs: Vec<Input>, attrs: Attrs) -> Result<Operation> {
        let name = self.unique(self.op_name.as_deref().unwrap_or(op_type));
        let mut shared = self.shared.borrow_mut();
        let mut desc = shared.graph.new_operation(op_type, &name)?;
        for input in inputs {
            match input {
                Input::One(output) => desc.add_input(output),
                Input::List(outputs) => desc.add_input_list(&outputs),
            }
        }
        for control in &self.controls {
            desc.add_control_input(control);
        }
        if let Some(device) = &self.device {
            desc.set_device(device)?;
        }
        for (name, value) in attrs.0 {
            // The error is that of finish() too.
            let _ = desc.set_attr(name, value);
        }
        desc.finish()
    }

    /// Adds a constant.
    pub fn constant<T: TensorType>(&mut self, value: impl Into<Tensor<T>>) -> Result<Operation> {
        let mut attrs = Attrs::default();
        attrs.set("dtype", T::data_type());
        attrs.set("value", value.into());
        self.add("Const", vec![], attrs)
    }

    /// Adds the derivatives of the sum of the ys by each x.
    pub fn gradients(&mut self, ys: &[Output], xs: &[Output]) -> Result<Vec<Output>> {
        let prefix = self.unique("Gradients");
        self.graph_mut().add_gradients(Some(&prefix), ys, xs, None)
    }
}
