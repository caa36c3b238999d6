//! What the table of clients/conformance does not reach: values, scopes, wrappers, mistakes.

use tensorloom::{
    ops, AnyTensor, Code, DataType, Graph, Operation, Output, Result, Scope, Session,
    SessionOptions, SessionRunArgs, Shape, Tensor, TensorType, WhileBuilder,
};

fn session(scope: &Scope) -> Session {
    Session::new(&SessionOptions::new(), &scope.graph()).unwrap()
}

fn fetched<T: TensorType>(
    session: &Session,
    feeds: &[(&Operation, &dyn AnyTensor)],
    fetch: impl Into<Output>,
) -> Result<Tensor<T>> {
    let fetch = fetch.into();
    let mut step = SessionRunArgs::new();
    for (placeholder, value) in feeds {
        step.add_feed(placeholder, 0, *value);
    }
    let token = step.request_fetch(&fetch.operation, fetch.index);
    session.run(&mut step)?;
    step.fetch(token)
}

/// What a step gives back of the tensor that it is fed.
fn through_a_step<T: TensorType>(value: &Tensor<T>) -> Tensor<T> {
    let mut s = Scope::new_root_scope();
    let x = ops::Placeholder::new().dtype(T::data_type()).build(&mut s).unwrap();
    let y = ops::identity(&x, &mut s).unwrap();
    fetched(&session(&s), &[(&x, value)], y).unwrap()
}

#[test]
fn tensors_keep_their_values() {
    let numbers = Tensor::new(&[2, 2]).with_values(&[1i16, -2, 3, 4]).unwrap();
    let back = through_a_step(&numbers);
    assert_eq!((back.dims(), &back[..]), (&[2u64, 2][..], &[1i16, -2, 3, 4][..]));
    assert_eq!(through_a_step(&Tensor::from(true))[..], [true]);
    assert_eq!(through_a_step(&Tensor::<f64>::new(&[0, 3])).dims(), [0, 3]);
    let texts = Tensor::new(&[3]).with_values(&[vec![], b"a".to_vec(), vec![0, 255]]).unwrap();
    assert_eq!(through_a_step(&texts)[..], texts[..]);
    assert_eq!(through_a_step(&Tensor::from("é".to_string()))[..], ["é"]);
}

#[test]
fn a_write_leaves_alone_what_a_step_has() {
    let mut fed = Tensor::new(&[2]).with_values(&[1f32, 2.0]).unwrap();
    let mut back = through_a_step(&fed);
    fed[0] = 5.0;
    assert_eq!(back[..], [1.0, 2.0]);
    back[1] = 7.0;
    assert_eq!((&fed[..], &back[..]), (&[5.0, 2.0][..], &[1.0, 7.0][..]));
}

#[test]
fn mistakes_with_tensors_are_errors() {
    assert_eq!(Tensor::new(&[3]).with_values(&[1i32]).unwrap_err().code(), Code::InvalidArgument);
    let mut s = Scope::new_root_scope();
    let one = s.constant(1f32).unwrap();
    let wrong = fetched::<i32>(&session(&s), &[], &one);
    assert_eq!(wrong.unwrap_err().code(), Code::InvalidArgument);
    let text = s.constant(Tensor::from(vec![255u8])).unwrap();
    let wrong = fetched::<String>(&session(&s), &[], &text);
    assert!(wrong.unwrap_err().to_string().contains("UTF-8"));
}

#[test]
fn a_result_is_taken_once() {
    let mut s = Scope::new_root_scope();
    let one = s.constant(1f32).unwrap();
    let mut step = SessionRunArgs::new();
    let token = step.request_fetch(&one, 0);
    assert!(step.fetch::<f32>(token).is_err());
    session(&s).run(&mut step).unwrap();
    assert_eq!(step.fetch::<f32>(token).unwrap()[..], [1.0]);
    assert!(step.fetch::<f32>(token).is_err());
}

#[test]
fn scopes_name_operations() {
    let s = Scope::new_root_scope();
    let mut names = Vec::new();
    for mut scope in [s.clone(), s.clone(), s.new_sub_scope("a"), s.new_sub_scope("a")] {
        names.push(scope.constant(1i32).unwrap().name());
    }
    assert_eq!(names, ["Const", "Const_1", "a/Const", "a_1/Const"]);
    let named = &mut s.with_op_name("two").with_device("/device:CPU:0");
    let two = named.constant(2i32).unwrap();
    assert_eq!((two.name(), two.device()), ("two".into(), "/device:CPU:0".into()));
    let after = s.with_control_dependencies(&[two]).constant(3i32).unwrap();
    assert_eq!(after.control_inputs()[0].name(), "two");
}

#[test]
fn wrappers_take_lists_and_attributes() {
    let mut s = Scope::new_root_scope();
    let (axis, value) = (s.constant(0i32).unwrap(), Tensor::from(&[1f32, 2.0, 3.0, 4.0][..]));
    let value = s.constant(value).unwrap();
    let parts = ops::Split::new().num_split(2).build(axis, value, &mut s).unwrap();
    let sum = ops::add_n(&[parts.output(0), parts.output(1)], &mut s).unwrap();
    assert_eq!(fetched::<f32>(&session(&s), &[], &sum).unwrap()[..], [4.0, 6.0]);
    let text = s.constant("a".to_string()).unwrap();
    let wrong = ops::mat_mul(&text, &text, &mut s);
    assert_eq!(wrong.unwrap_err().code(), Code::InvalidArgument);
}

#[test]
fn operations_outlive_their_graph() {
    let one = Scope::new_root_scope().constant(1i32).unwrap();
    assert_eq!((one.name(), one.op_type()), ("Const".into(), "Const".into()));
}

#[test]
fn names_with_a_zero_are_errors() {
    let mut graph = Graph::new();
    assert!(graph.new_operation("NoOp", "a\0b").is_err());
    assert!(graph.operation_by_name("a\0b").is_err());
    assert_eq!(graph.operation_by_name_required("a").unwrap_err().code(), Code::NotFound);
}

#[test]
fn shapes_are_shown() {
    assert_eq!(Shape::from([2, -1]).to_string(), "[2, ?]");
    assert_eq!(Shape::new(None).to_string(), "<unknown>");
}

#[test]
fn a_session_runs_in_many_threads() {
    let mut s = Scope::new_root_scope();
    let x = ops::Placeholder::new().dtype(DataType::Int32).build(&mut s).unwrap();
    let y = ops::square(&x, &mut s).unwrap();
    let session = session(&s);
    std::thread::scope(|threads| {
        for i in 0..8 {
            let (x, y, session) = (&x, &y, &session);
            threads.spawn(move || {
                let got = fetched::<i32>(session, &[(x, &Tensor::from(i))], y).unwrap();
                assert_eq!(got[..], [i * i]);
            });
        }
    });
}

#[test]
fn gradients_and_loops() {
    let mut s = Scope::new_root_scope();
    let x = ops::Placeholder::new().dtype(DataType::Float).build(&mut s).unwrap();
    let y = ops::square(&x, &mut s).unwrap();
    let dx = s.gradients(&[y.into()], &[x.output(0)]).unwrap().remove(0);
    let start = s.constant(0i32).unwrap();
    let part = |graph: &mut Graph, kind: &str, variable: &Output, value: i32| -> Result<Output> {
        let mut limit = graph.new_operation("Const", "limit")?;
        limit.set_attr("dtype", DataType::Int32)?;
        limit.set_attr("value", Tensor::from(value))?;
        let limit = limit.finish()?;
        let mut found = graph.new_operation(kind, "found")?;
        found.add_input(variable);
        found.add_input(&limit);
        Ok(found.finish()?.into())
    };
    let ends = WhileBuilder::new(
        &mut s.graph_mut(),
        |graph, variables| part(graph, "Less", &variables[0], 7),
        |graph, variables| Ok(vec![part(graph, "Add", &variables[0], 2)?]),
        &[start.into()],
    )
    .and_then(|builder| builder.name("loop")?.finish())
    .unwrap();
    let session = session(&s);
    assert_eq!(fetched::<f32>(&session, &[(&x, &Tensor::from(3f32))], dx).unwrap()[..], [6.0]);
    assert_eq!(fetched::<i32>(&session, &[], ends[0].clone()).unwrap()[..], [8]);
    session.close().unwrap();
    assert!(fetched::<i32>(&session, &[], ends[0].clone()).is_err());
}
