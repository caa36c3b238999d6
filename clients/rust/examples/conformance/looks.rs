//! The steps that look at graphs, and those of sessions.

use crate::literals::{dtype, expect_attr, list, show, tensor, unescape, Literal, Outcome};
use crate::with_type;
use crate::world::{broken, expect, option, World};
use std::rc::Rc;
use tensorloom::{
    AnyTensor, FetchToken, Graph, Operation, Output, PartialRun, SavedModelBundle, Session,
    SessionOptions, SessionRunArgs,
};

/// A step that runs in parts, and the session that it must not outlive.
pub struct Partial {
    // Dropped before the session, as it is above it.
    run: PartialRun<'static>,
    _session: Rc<Session>,
}

/// The words of a step of a session, read.
struct Step {
    feeds: Vec<(Output, Option<Box<dyn AnyTensor + Send>>)>,
    fetches: Vec<(Output, String)>,
    targets: Vec<Operation>,
}

impl Step {
    fn args(&self) -> (SessionRunArgs<'_>, Vec<FetchToken>) {
        let mut args = SessionRunArgs::new();
        for (output, value) in &self.feeds {
            if let Some(value) = value {
                args.add_feed(&output.operation, output.index, value.as_ref());
            }
        }
        self.targets.iter().for_each(|op| args.add_target(op));
        let fetch = |(output, _): &(Output, String)| args.request_fetch(&output.operation, output.index);
        let tokens = self.fetches.iter().map(fetch).collect();
        (args, tokens)
    }

    fn run(&self, call: impl Fn(&mut SessionRunArgs<'_>) -> tensorloom::Result<()>) -> Outcome<()> {
        let (mut args, tokens) = self.args();
        call(&mut args)?;
        for ((output, text), token) in self.fetches.iter().zip(tokens) {
            if text.is_empty() {
                continue;
            }
            let (literal, name) = (Literal::new(text), output.operation.name());
            with_type!(literal.dtype, T => literal.expect(&name, &args.fetch::<T>(token)?)?);
        }
        Ok(())
    }
}

fn names(operations: &[Operation]) -> String {
    operations.iter().map(Operation::name).collect::<Vec<_>>().join(",")
}

impl World {
    fn op_info(&self, words: &[&str]) -> Outcome<()> {
        let op = self.operation(words[0])?;
        for (key, got) in [
            ("type", op.op_type()),
            ("device", op.device()),
            ("inputs", op.num_inputs().to_string()),
            ("outputs", op.num_outputs().to_string()),
            ("controls", names(&op.control_inputs())),
            ("followers", names(&op.control_outputs())),
        ] {
            if let Some(expected) = option(words, key) {
                expect(key, got, expected)?;
            }
        }
        Ok(())
    }

    fn contains(&self, words: &[&str]) -> Outcome<()> {
        let data = match words[0] {
            "op-list" => tensorloom::get_all_op_list(),
            "kernels" => tensorloom::get_registered_kernels_for_op(words[1])?,
            "graph-def" => self.graph().graph_def()?,
            "node-def" => self.operation(words[1])?.node_def()?,
            "op-def" => self.graph().get_op_def(words[1])?,
            "function-def" => self.functions[words[1]].to_function_def()?,
            other => return broken(format!("no message {other}")),
        };
        let bytes = unescape(words[2]);
        match data.windows(bytes.len()).any(|part| part == bytes) {
            true => Ok(()),
            false => broken(format!("{} {} has no bytes {}", words[0], words[1], words[2])),
        }
    }

    fn metadata(&self, words: &[&str]) -> Outcome<()> {
        let got = self.operation(words[0])?.get_attr_metadata(words[1])?;
        let (is_list, size) = got.list_size.map_or((0, -1), |size| (1, size));
        let shown = [is_list, size, got.attr_type.into(), got.total_size];
        for (got, expected) in shown.iter().zip(&words[2..]) {
            if *expected != "-" {
                expect("the metadata", got.to_string(), *expected)?;
            }
        }
        Ok(())
    }

    fn list_length(&self, words: &[&str]) -> Outcome<()> {
        let op = self.operation(words[0])?;
        let got = match words[1] {
            "out" => op.output_list_length(words[2])?,
            _ => op.input_list_length(words[2])?,
        };
        words.get(3).map_or(Ok(()), |expected| expect("the length", got.to_string(), *expected))
    }

    fn constant(&self, words: &[&str]) -> Outcome<()> {
        let output = self.output(words[0])?;
        if words[1] == "none" {
            let known = self.graph().try_evaluate_constant::<i32>(output)?.is_some();
            return expect("known", known, false);
        }
        let literal = Literal::new(words[1]);
        with_type!(literal.dtype, T => {
            match self.graph().try_evaluate_constant::<T>(output)? {
                Some(found) => literal.expect(words[0], &found),
                None => broken("the constant is not known"),
            }
        })
    }

    fn read(&self, words: &[&str]) -> Outcome<Step> {
        let mut step = Step { feeds: vec![], fetches: vec![], targets: vec![] };
        for word in words {
            if let Some(name) = word.strip_prefix('!') {
                step.targets.push(self.operation(name)?);
            } else if let Some((reference, value)) = word.split_once('<') {
                let value = (!value.is_empty()).then(|| tensor(value));
                step.feeds.push((self.output(reference)?, value));
            } else if let Some((reference, value)) = word.split_once('>') {
                step.fetches.push((self.output(reference)?, value.into()));
            }
        }
        Ok(step)
    }

    fn partial_setup(&mut self, words: &[&str]) -> Outcome<()> {
        let (step, session) = (self.read(words)?, self.session()?);
        let feeds: Vec<_> = step.feeds.iter().map(|(output, _)| output.clone()).collect();
        let fetches: Vec<_> = step.fetches.iter().map(|(output, _)| output.clone()).collect();
        let targets: Vec<_> = step.targets.iter().collect();
        // The session is kept beside the run, which is dropped first.
        let lasting: &'static Session = unsafe { &*Rc::as_ptr(&session) };
        let run = lasting.partial_run_setup(&feeds, &fetches, &targets)?;
        self.partial = Some(Partial { run, _session: session });
        Ok(())
    }

    fn threads(&self, words: &[&str]) -> Outcome<()> {
        let number = |i: usize| words[i].parse::<usize>().expect("a number");
        let (count, repeats) = (number(0), number(1));
        let session = self.session()?;
        let session: &Session = &session;
        // Attributes of graphs are no matter of threads, so each has its step read before.
        let steps = (0..count).map(|_| self.read(&words[2..])).collect::<Outcome<Vec<_>>>()?;
        std::thread::scope(|scope| {
            let running: Vec<_> = steps
                .into_iter()
                .map(|step| {
                    scope.spawn(move || (0..repeats).try_for_each(|_| step.run(|args| session.run(args))))
                })
                .collect();
            running.into_iter().try_for_each(|thread| thread.join().expect("a thread's result"))
        })
    }

    fn load(&mut self, words: &[&str]) -> Outcome<()> {
        let directory = std::env::var("SAVED_MODEL").expect("SAVED_MODEL");
        let directory = words[0].replace("$SAVED_MODEL", &directory);
        let (mut graph, tags) = (Graph::new(), list(words[1], ','));
        let model = SavedModelBundle::load(&SessionOptions::new(), &tags, &mut graph, directory)?;
        self.session = Some(Rc::new(model.session));
        self.enter("a SavedModel", graph);
        match words.get(2) {
            Some(text) if !String::from_utf8_lossy(&model.meta_graph_def).contains(text) => {
                broken(format!("the MetaGraphDef has no bytes {text}"))
            }
            _ => Ok(()),
        }
    }

    /// Takes a step that builds nothing.
    pub fn look(&mut self, verb: &str, words: &[&str]) -> Outcome<()> {
        let all = words.join(",");
        match verb {
            "shape" => {
                let got = self.graph().tensor_shape(self.output(words[0])?)?;
                expect("the shape", show(&got), words[1])
            }
            "dtype" => {
                let got = self.graph().output_type(self.output(words[0])?);
                expect("the dtype", got, dtype(words[1]))
            }
            "op-info" => self.op_info(words),
            "input" => {
                let of = self.output(words[0])?;
                let (op, index) = of.operation.input(of.index as usize);
                expect("the input", format!("{}:{index}", op.name()), words[1])
            }
            "consumers" => {
                let of = self.output(words[0])?;
                let found = of.operation.output_consumers(of.index as usize);
                let found: Vec<_> = found.iter().map(|(op, i)| format!("{}:{i}", op.name())).collect();
                expect("the consumers", found.join(","), words[1..].join(","))
            }
            "list-length" => self.list_length(words),
            "ops" => {
                let found: Vec<_> = self.graph().operation_iter().collect();
                expect("the operations", names(&found), all)
            }
            "functions" => {
                let mut found: Vec<_> =
                    self.graph().get_functions()?.iter().map(|f| f.get_name()).collect();
                found.sort();
                expect("the functions", found.join(","), all)
            }
            "attr" => {
                let op = self.operation(words[0])?;
                match words.get(2) {
                    Some(expected) => expect_attr(&op, words[1], expected),
                    None => op.get_attr_metadata(words[1]).map(drop).map_err(Into::into),
                }
            }
            "metadata" => self.metadata(words),
            "contains" => self.contains(words),
            "constant" => self.constant(words),
            _ => self.session_step(verb, words),
        }
    }

    fn session_step(&mut self, verb: &str, words: &[&str]) -> Outcome<()> {
        match verb {
            "session" => {
                let mut options = SessionOptions::new();
                if let Some(target) = option(words, "target") {
                    options.set_target(target)?;
                }
                self.session = Some(Rc::new(Session::new(&options, self.graph())?));
                Ok(())
            }
            "close" => self.session()?.close().map_err(Into::into),
            "load" => self.load(words),
            "run" => {
                let session = self.session()?;
                self.read(words)?.run(|args| session.run(args))
            }
            "partial-setup" => self.partial_setup(words),
            "partial-run" => {
                let step = self.read(words)?;
                match &self.partial {
                    Some(partial) => step.run(|args| partial.run.run(args)),
                    None => broken("no partial run"),
                }
            }
            "threads" => self.threads(words),
            "devices" => {
                let devices = self.session()?.device_list()?;
                let found = devices
                    .iter()
                    .any(|d| d.device_type == words[0] && d.name.contains("/device:"));
                expect("a device of the type", found, true)
            }
            _ => broken(format!("no step {verb}")),
        }
    }
}
