//! What the steps of a case share, and those that build graphs.

use crate::literals::{attr, list, shape, unescape, Outcome};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use tensorloom::{
    Code, Function, Graph, ImportGraphDefOptions, Operation, Output, Session, Status, WhileBuilder,
};

/// Why a step has not gone well.
pub enum Problem {
    /// An error of the library.
    Library(Status),
    /// An expectation that does not hold.
    Broken(String),
}

impl From<Status> for Problem {
    fn from(status: Status) -> Problem {
        Problem::Library(status)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Library(status) => status.fmt(f),
            Problem::Broken(text) => text.fmt(f),
        }
    }
}

pub fn broken<T>(text: impl Into<String>) -> Outcome<T> {
    Err(Problem::Broken(text.into()))
}

pub fn expect<T: PartialEq<U> + fmt::Debug, U: fmt::Debug>(what: &str, got: T, expected: U) -> Outcome<()> {
    if got == expected { Ok(()) } else { broken(format!("{what} is {got:?}, expected {expected:?}")) }
}

const CODES: [(&str, Code); 17] = [
    ("OK", Code::Ok),
    ("CANCELLED", Code::Cancelled),
    ("UNKNOWN", Code::Unknown),
    ("INVALID_ARGUMENT", Code::InvalidArgument),
    ("DEADLINE_EXCEEDED", Code::DeadlineExceeded),
    ("NOT_FOUND", Code::NotFound),
    ("ALREADY_EXISTS", Code::AlreadyExists),
    ("PERMISSION_DENIED", Code::PermissionDenied),
    ("RESOURCE_EXHAUSTED", Code::ResourceExhausted),
    ("FAILED_PRECONDITION", Code::FailedPrecondition),
    ("ABORTED", Code::Aborted),
    ("OUT_OF_RANGE", Code::OutOfRange),
    ("UNIMPLEMENTED", Code::Unimplemented),
    ("INTERNAL", Code::Internal),
    ("UNAVAILABLE", Code::Unavailable),
    ("DATA_LOSS", Code::DataLoss),
    ("UNAUTHENTICATED", Code::Unauthenticated),
];

/// A loop between its steps, which build it when all are known.
struct Loop {
    name: String,
    variables: Vec<Output>,
    condition: Vec<String>,
    end: Option<String>,
    body: Vec<String>,
}

pub struct World {
    /// The graphs by their names, and the name of the one that is built.
    graphs: HashMap<String, Graph>,
    current: String,
    aliases: HashMap<(String, String), Output>,
    pub functions: HashMap<String, Function>,
    pub session: Option<Rc<Session>>,
    pub partial: Option<crate::looks::Partial>,
    building: Option<Loop>,
}

/// The value of a word KEY=VALUE, if there is one.
pub fn option<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

fn options<'a>(words: &[&'a str], key: &str) -> Vec<&'a str> {
    list(option(words, key).unwrap_or(""), ',')
}

fn pairs<'a>(words: &[&'a str], key: &str) -> Vec<(&'a str, &'a str)> {
    options(words, key).iter().map(|pair| pair.split_once('>').expect("a pair")).collect()
}

fn tensor_name(reference: &str) -> (&str, usize) {
    reference
        .rsplit_once(':')
        .map_or((reference, 0), |(name, index)| (name, index.parse().expect("an index")))
}

impl World {
    pub fn new() -> World {
        World {
            graphs: HashMap::from([("main".to_string(), Graph::new())]),
            current: "main".into(),
            aliases: HashMap::new(),
            functions: HashMap::new(),
            session: None,
            partial: None,
            building: None,
        }
    }

    pub fn graph(&self) -> &Graph {
        &self.graphs[&self.current]
    }

    pub fn graph_mut(&mut self) -> &mut Graph {
        self.graphs.get_mut(&self.current).expect("the current graph")
    }

    /// Takes a graph for the current one, under a name of its own.
    pub fn enter(&mut self, name: &str, graph: Graph) {
        self.graphs.insert(name.into(), graph);
        self.current = name.into();
    }

    pub fn session(&self) -> Outcome<Rc<Session>> {
        self.session.clone().ok_or_else(|| Problem::Broken("no session".into()))
    }

    pub fn operation(&self, name: &str) -> Outcome<Operation> {
        let found = self.graph().operation_by_name(name)?;
        found.ok_or_else(|| Problem::Broken(format!("the graph has no operation {name}")))
    }

    fn operations(&self, names: &[&str]) -> Outcome<Vec<Operation>> {
        names.iter().map(|name| self.operation(name)).collect()
    }

    pub fn output(&self, reference: &str) -> Outcome<Output> {
        if let Some(output) = self.aliases.get(&(self.current.clone(), reference.into())) {
            return Ok(output.clone());
        }
        let (name, index) = tensor_name(reference);
        Ok(self.operation(name)?.output(index))
    }

    fn outputs(&self, references: &[&str]) -> Outcome<Vec<Output>> {
        references.iter().map(|reference| self.output(reference)).collect()
    }

    fn alias(&mut self, name: &str, outputs: Vec<Output>) {
        for (i, output) in outputs.into_iter().enumerate() {
            self.aliases.insert((self.current.clone(), format!("{name}:{i}")), output);
        }
    }

    fn op(&mut self, words: &[&str]) -> Outcome<()> {
        // What the words name is looked up before the description borrows the graph.
        let (mut inputs, mut controls, mut beside, mut attrs) = (vec![], vec![], vec![], vec![]);
        let mut device = "";
        for word in &words[2..] {
            let rest = &word[1..];
            match word.as_bytes()[0] {
                b'[' => {
                    let references = list(&rest[..rest.len() - 1], ',');
                    inputs.push((true, self.outputs(&references)?));
                }
                b'^' => controls.push(self.operation(rest)?),
                b'~' => beside.push(self.operation(rest)?),
                b'@' => device = rest,
                _ => match word.split_once('=') {
                    Some((name, value)) => attrs.push((name, attr(value)?)),
                    None => inputs.push((false, vec![self.output(word)?])),
                },
            }
        }
        let mut desc = self.graph_mut().new_operation(words[0], words[1])?;
        for (is_list, outputs) in inputs {
            match is_list {
                true => desc.add_input_list(&outputs),
                false => desc.add_input(&outputs[0]),
            }
        }
        controls.iter().for_each(|op| desc.add_control_input(op));
        beside.iter().for_each(|op| desc.colocate_with(op));
        if !device.is_empty() {
            desc.set_device(device)?;
        }
        for (name, value) in attrs {
            desc.set_attr(name, value)?;
        }
        desc.finish()?;
        Ok(())
    }

    fn import(&mut self, words: &[&str]) -> Outcome<()> {
        let mut settings = ImportGraphDefOptions::new();
        if let Some(prefix) = option(words, "prefix") {
            settings.set_prefix(prefix)?;
        }
        if let Some(device) = option(words, "device") {
            settings.set_default_device(device)?;
        }
        settings.set_uniquify_names(option(words, "uniquify").is_some());
        for (from, to) in pairs(words, "map") {
            let (name, index) = tensor_name(from);
            settings.add_input_mapping(name, index, &self.output(to)?)?;
        }
        for (from, to) in pairs(words, "control-map") {
            settings.remap_control_dependency(from, &self.operation(to)?)?;
        }
        for op in self.operations(&options(words, "depend"))? {
            settings.add_control_dependency(&op);
        }
        for reference in options(words, "return") {
            let (name, index) = tensor_name(reference);
            settings.add_return_output(name, index)?;
        }
        for name in options(words, "return-ops") {
            settings.add_return_operation(name)?;
        }
        let def = self.graphs[words[0]].graph_def()?;
        let results = self.graph_mut().import_graph_def_with_results(&def, &settings)?;
        let mut outputs = results.return_outputs();
        outputs.extend(results.return_operations().into_iter().map(Output::from));
        if let Some(name) = option(words, "alias") {
            self.alias(name, outputs);
        }
        let unused = results.missing_unused_input_mappings();
        let unused: Vec<String> = unused.iter().map(|(name, i)| format!("{name}:{i}")).collect();
        expect("the unused mappings", unused, options(words, "missing"))
    }

    fn function(&mut self, words: &[&str]) -> Outcome<()> {
        let body = match option(words, "ops") {
            Some(names) => Some(self.operations(&list(names, ','))?),
            None => None,
        };
        let body: Option<Vec<&Operation>> = body.as_ref().map(|all| all.iter().collect());
        let names = options(words, "names");
        let function = self.graph().to_function(
            words[0],
            body.as_deref(),
            &self.outputs(&options(words, "inputs"))?,
            &self.outputs(&options(words, "outputs"))?,
            (!names.is_empty()).then(|| &names[..]),
        )?;
        self.functions.insert(words[0].into(), function);
        Ok(())
    }

    fn gradients(&mut self, words: &[&str]) -> Outcome<()> {
        let (ys, xs) = (self.outputs(&list(words[1], ','))?, self.outputs(&list(words[2], ','))?);
        let dys = match words.get(3) {
            Some(word) if !word.contains('=') => Some(self.outputs(&list(word, ','))?),
            _ => None,
        };
        let prefix = option(words, "prefix");
        let found = self.graph_mut().add_gradients(prefix, &ys, &xs, dys.as_deref())?;
        self.alias(words[0], found);
        Ok(())
    }

    fn loop_step(&mut self, line: &str, words: &[&str]) -> Option<Outcome<()>> {
        if words[0] == "while" {
            let variables = match self.outputs(&list(words[2], ',')) {
                Ok(variables) => variables,
                Err(problem) => return Some(Err(problem)),
            };
            let (condition, body) = (vec![], vec![]);
            let name = words[1].into();
            self.building = Some(Loop { name, variables, condition, end: None, body });
            return Some(Ok(()));
        }
        let mut made = self.building.take()?;
        match words[0] {
            "while-body" => return Some(self.finish_loop(made, words[1])),
            "while-abort" => return Some(self.abort_loop(&made)),
            "while-cond" => made.end = Some(words[1].into()),
            _ if made.end.is_none() => made.condition.push(line.into()),
            _ => made.body.push(line.into()),
        }
        self.building = Some(made);
        Some(Ok(()))
    }

    fn abort_loop(&mut self, made: &Loop) -> Outcome<()> {
        let stop = || Err(Status::new_set(Code::Aborted, "stop"));
        let graph = self.graph_mut();
        let built = WhileBuilder::new(graph, |_, _| stop(), |_, _| Ok(vec![]), &made.variables);
        expect("the loop's code", built.err().map(|error| error.code()), Some(Code::Aborted))
    }

    /// Takes the steps of a part of a loop in its own graph.
    fn part(&mut self, graph: &mut Graph, variables: &[Output], steps: &[String], ends: &str) -> Outcome<Vec<Output>> {
        let outer = self.current.clone();
        self.enter("a part of a loop", std::mem::take(graph));
        self.aliases.retain(|(name, _), _| name != "a part of a loop");
        self.alias("in", variables.to_vec());
        let found = steps.iter().try_for_each(|step| self.take(step));
        let found = found.and_then(|()| self.outputs(&list(ends, ',')));
        *graph = self.graphs.remove("a part of a loop").expect("the graph of a part");
        self.current = outer;
        found
    }

    fn finish_loop(&mut self, made: Loop, ends: &str) -> Outcome<()> {
        let current = self.current.clone();
        let mut outer = std::mem::take(self.graph_mut());
        let shared = std::cell::RefCell::new((self, None));
        let run = |graph: &mut Graph, variables: &[Output], steps: &[String], ends: &str| {
            let mut shared = shared.borrow_mut();
            let found = shared.0.part(graph, variables, steps, ends);
            found.map_err(|problem| {
                shared.1 = Some(problem);
                Status::new_set(Code::Aborted, "a step of the loop has failed")
            })
        };
        let end = made.end.unwrap_or_default();
        let results = WhileBuilder::new(
            &mut outer,
            |graph, variables| Ok(run(graph, variables, &made.condition, &end)?.remove(0)),
            |graph, variables| run(graph, variables, &made.body, ends),
            &made.variables,
        )
        .and_then(|builder| builder.name(&made.name)?.finish());
        let (world, problem) = shared.into_inner();
        world.graphs.insert(current, outer);
        match problem {
            Some(problem) => Err(problem),
            None => {
                world.alias(&made.name, results?);
                Ok(())
            }
        }
    }

    fn step(&mut self, verb: &str, words: &[&str]) -> Outcome<()> {
        match verb {
            "op" => self.op(words)?,
            "graph" => {
                self.graphs.entry(words[0].into()).or_default();
                self.current = words[0].into();
            }
            "set-shape" => {
                let output = self.output(words[0])?;
                self.graph_mut().set_tensor_shape(output, &shape(words[1]))?;
            }
            "import" => self.import(words)?,
            "import-bytes" => {
                let options = ImportGraphDefOptions::new();
                self.graph_mut().import_graph_def(&unescape(words[0]), &options)?;
            }
            "gradients" => self.gradients(words)?,
            "function" => self.function(words)?,
            "copy-function" => {
                let graph = self.graphs.get_mut(&self.current).expect("the current graph");
                graph.copy_function(&self.functions[words[0]])?;
            }
            "reread-function" => {
                let def = self.functions[words[0]].to_function_def()?;
                self.functions.insert(words[1].into(), Function::import_function_def(&def)?);
            }
            _ => self.look(verb, words)?,
        }
        Ok(())
    }

    /// Takes one line: [fails CODE] VERB ARGUMENT...
    pub fn take(&mut self, line: &str) -> Outcome<()> {
        let all: Vec<&str> = line.split_whitespace().collect();
        let (expected, words) = match all[0] {
            "fails" => (all[1], &all[2..]),
            _ => ("OK", &all[..]),
        };
        let result = match self.loop_step(line, words) {
            Some(result) => result,
            None => self.step(words[0], &words[1..]),
        };
        let (code, message) = match result {
            Ok(()) => (Code::Ok, String::new()),
            Err(Problem::Library(status)) => (status.code(), status.to_string()),
            Err(problem) => return Err(problem),
        };
        let name = CODES.iter().find(|(_, each)| *each == code).map_or("?", |(name, _)| *name);
        if name == expected {
            return Ok(());
        }
        broken(format!("{name}, expected {expected}: {message}"))
    }
}
