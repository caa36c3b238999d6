use crate::graph::GraphImpl;
use crate::status::{c_string, c_strings, take_buffer, text, Checked};
use crate::tensor::{AnyTensor, Held, Raw};
use crate::{ffi, Graph, Operation, Output, Result, Status, Tensor, TensorType};
use std::os::raw::{c_int, c_void};
use std::path::Path;
use std::ptr;
use std::sync::Arc;

/// Where and how a session runs.
pub struct SessionOptions {
    c: *mut ffi::TF_SessionOptions,
}

impl Default for SessionOptions {
    fn default() -> SessionOptions {
        SessionOptions::new()
    }
}

impl Drop for SessionOptions {
    fn drop(&mut self) {
        unsafe { ffi::TF_DeleteSessionOptions(self.c) }
    }
}

impl SessionOptions {
    /// Options of a session of this process.
    pub fn new() -> SessionOptions {
        SessionOptions { c: unsafe { ffi::TF_NewSessionOptions() } }
    }

    /// Runs at a master, as "grpc://host:port".
    pub fn set_target(&mut self, target: &str) -> Result<()> {
        let target = c_string(target)?;
        unsafe { ffi::TF_SetTarget(self.c, target.as_ptr()) };
        Ok(())
    }

    /// Takes a serialized ConfigProto.
    pub fn set_config(&mut self, config: &[u8]) -> Result<()> {
        let status = Checked::new();
        let data = config.as_ptr().cast();
        unsafe { ffi::TF_SetConfig(self.c, data, config.len(), status.c()) };
        status.result()
    }
}

/// Runs parts of a graph. Steps may run at the same time.
pub struct Session {
    c: *mut ffi::TF_Session,
    _graph: Arc<GraphImpl>,
}

unsafe impl Send for Session {}
unsafe impl Sync for Session {}

impl Drop for Session {
    fn drop(&mut self) {
        unsafe { ffi::TF_DeleteSession(self.c, Checked::new().c()) }
    }
}

/// A graph and a session with its variables, read from a SavedModel.
pub struct SavedModelBundle {
    /// Runs the graph that was given.
    pub session: Session,
    /// The serialized MetaGraphDef; it has the signatures.
    pub meta_graph_def: Vec<u8>,
}

impl SavedModelBundle {
    /// Reads the graph with exactly these tags into an empty graph.
    pub fn load(
        options: &SessionOptions,
        tags: &[&str],
        graph: &mut Graph,
        export_dir: impl AsRef<Path>,
    ) -> Result<SavedModelBundle> {
        let directory = c_string(&export_dir.as_ref().to_string_lossy())?;
        let (_texts, tags) = c_strings(tags)?;
        let status = Checked::new();
        let (c, meta_graph_def) = unsafe {
            let meta = ffi::TF_NewBuffer();
            let c = ffi::TF_LoadSessionFromSavedModel(
                options.c,
                ptr::null(),
                directory.as_ptr(),
                tags.as_ptr(),
                tags.len() as c_int,
                graph.c(),
                meta,
                status.c(),
            );
            (c, take_buffer(meta))
        };
        status.result()?;
        let session = Session { c, _graph: graph.inner.clone() };
        Ok(SavedModelBundle { session, meta_graph_def })
    }
}

/// A device that a session can use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Device {
    pub name: String,
    pub device_type: String,
    pub memory_bytes: i64,
}

impl Session {
    /// A session of a graph, which may grow afterwards.
    pub fn new(options: &SessionOptions, graph: &Graph) -> Result<Session> {
        let status = Checked::new();
        let c = unsafe { ffi::TF_NewSession(graph.c(), options.c, status.c()) };
        status.result()?;
        Ok(Session { c, _graph: graph.inner.clone() })
    }

    /// Reads a graph from a SavedModel; see [`SavedModelBundle::load`].
    pub fn from_saved_model(
        options: &SessionOptions,
        tags: &[&str],
        graph: &mut Graph,
        export_dir: impl AsRef<Path>,
    ) -> Result<Session> {
        Ok(SavedModelBundle::load(options, tags, graph, export_dir)?.session)
    }

    /// Ends the session; steps fail from then on.
    pub fn close(&self) -> Result<()> {
        let status = Checked::new();
        unsafe { ffi::TF_CloseSession(self.c, status.c()) };
        status.result()
    }

    /// Runs a step, whose results are taken from its arguments.
    pub fn run(&self, step: &mut SessionRunArgs<'_>) -> Result<()> {
        let status = Checked::new();
        let c = step.c();
        let mut results = c.results();
        unsafe {
            let options = step.run_options.as_ref().map_or(ptr::null_mut(), |bytes| {
                ffi::TF_NewBufferFromString(bytes.as_ptr().cast::<c_void>(), bytes.len())
            });
            let metadata = match step.request_metadata {
                true => ffi::TF_NewBuffer(),
                false => ptr::null_mut(),
            };
            ffi::TF_SessionRun(
                self.c,
                options,
                c.feeds.as_ptr(),
                c.values.as_ptr(),
                c.feeds.len() as c_int,
                c.fetches.as_ptr(),
                results.as_mut_ptr(),
                results.len() as c_int,
                c.targets.as_ptr(),
                c.targets.len() as c_int,
                metadata,
                status.c(),
            );
            if !options.is_null() {
                ffi::TF_DeleteBuffer(options);
            }
            step.metadata = (!metadata.is_null()).then(|| take_buffer(metadata));
        }
        status.result()?;
        step.results = results.into_iter().map(|c| Some(Raw(c))).collect();
        Ok(())
    }

    /// Begins a step that runs in parts, of which this says all that they will feed, fetch and
    /// run.
    pub fn partial_run_setup(
        &self,
        feeds: &[Output],
        fetches: &[Output],
        targets: &[&Operation],
    ) -> Result<PartialRun<'_>> {
        let (feeds, fetches): (Vec<_>, Vec<_>) =
            (feeds.iter().map(Output::c).collect(), fetches.iter().map(Output::c).collect());
        let targets: Vec<_> = targets.iter().map(|op| op.c()).collect();
        let (mut handle, status) = (ptr::null(), Checked::new());
        unsafe {
            ffi::TF_SessionPRunSetup(
                self.c,
                feeds.as_ptr(),
                feeds.len() as c_int,
                fetches.as_ptr(),
                fetches.len() as c_int,
                targets.as_ptr(),
                targets.len() as c_int,
                &mut handle,
                status.c(),
            );
        }
        status.result()?;
        Ok(PartialRun { session: self, handle })
    }

    /// The devices that the session can use.
    pub fn device_list(&self) -> Result<Vec<Device>> {
        let status = Checked::new();
        unsafe {
            let list = ffi::TF_SessionListDevices(self.c, status.c());
            status.result()?;
            let device = |i| Device {
                name: text(ffi::TF_DeviceListName(list, i, status.c())),
                device_type: text(ffi::TF_DeviceListType(list, i, status.c())),
                memory_bytes: ffi::TF_DeviceListMemoryBytes(list, i, status.c()),
            };
            let found = (0..ffi::TF_DeviceListCount(list)).map(device).collect();
            ffi::TF_DeleteDeviceList(list);
            status.result().map(|()| found)
        }
    }
}

/// A step that runs in parts.
pub struct PartialRun<'s> {
    session: &'s Session,
    handle: ffi::Text,
}

impl Drop for PartialRun<'_> {
    fn drop(&mut self) {
        unsafe { ffi::TF_DeletePRunHandle(self.handle) }
    }
}

impl PartialRun<'_> {
    /// Runs a part, whose results are taken from its arguments.
    pub fn run(&self, step: &mut SessionRunArgs<'_>) -> Result<()> {
        let status = Checked::new();
        let c = step.c();
        let mut results = c.results();
        unsafe {
            ffi::TF_SessionPRun(
                self.session.c,
                self.handle,
                c.feeds.as_ptr(),
                c.values.as_ptr(),
                c.feeds.len() as c_int,
                c.fetches.as_ptr(),
                results.as_mut_ptr(),
                results.len() as c_int,
                c.targets.as_ptr(),
                c.targets.len() as c_int,
                status.c(),
            );
        }
        status.result()?;
        step.results = results.into_iter().map(|c| Some(Raw(c))).collect();
        Ok(())
    }
}

/// Says which result of a step is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchToken {
    index: usize,
}

/// What a step is fed, what it fetches and what else it runs.
#[derive(Default)]
pub struct SessionRunArgs<'l> {
    feeds: Vec<(Output, &'l dyn AnyTensor)>,
    fetches: Vec<Output>,
    targets: Vec<Operation>,
    results: Vec<Option<Raw>>,
    run_options: Option<Vec<u8>>,
    request_metadata: bool,
    metadata: Option<Vec<u8>>,
}

/// The arguments in C's form.
struct Step {
    feeds: Vec<ffi::TF_Output>,
    values: Vec<*mut ffi::TF_Tensor>,
    fetches: Vec<ffi::TF_Output>,
    targets: Vec<ffi::Op>,
    _held: Vec<Held>,
}

impl Step {
    fn results(&self) -> Vec<*mut ffi::TF_Tensor> {
        vec![ptr::null_mut(); self.fetches.len()]
    }
}

impl<'l> SessionRunArgs<'l> {
    /// A step that does nothing yet.
    pub fn new() -> SessionRunArgs<'l> {
        SessionRunArgs::default()
    }

    /// Feeds an output of an operation.
    pub fn add_feed(&mut self, operation: &Operation, index: c_int, tensor: &'l dyn AnyTensor) {
        self.feeds.push((Output { operation: operation.clone(), index }, tensor));
    }

    /// Fetches an output of an operation.
    pub fn request_fetch(&mut self, operation: &Operation, index: c_int) -> FetchToken {
        self.fetches.push(Output { operation: operation.clone(), index });
        FetchToken { index: self.fetches.len() - 1 }
    }

    /// Runs an operation whose outputs nobody wants.
    pub fn add_target(&mut self, operation: &Operation) {
        self.targets.push(operation.clone());
    }

    /// Takes a result of the step that ran last; an error when it is of another type, or taken.
    pub fn fetch<T: TensorType>(&mut self, token: FetchToken) -> Result<Tensor<T>> {
        let found = self.results.get_mut(token.index).and_then(Option::take);
        Tensor::from_raw(found.ok_or_else(|| Status::invalid("the result is not there, or taken"))?)
    }

    /// Takes a serialized RunOptions.
    pub fn set_run_options(&mut self, run_options: &[u8]) {
        self.run_options = Some(run_options.to_vec());
    }

    /// Asks for what the step costs.
    pub fn set_request_metadata(&mut self, request: bool) {
        self.request_metadata = request;
    }

    /// The serialized RunMetadata of the step that ran last.
    pub fn get_metadata(&self) -> Option<&[u8]> {
        self.metadata.as_deref()
    }

    fn c(&mut self) -> Step {
        self.results.clear();
        let held: Vec<_> = self.feeds.iter().map(|(_, tensor)| tensor.held()).collect();
        Step {
            feeds: self.feeds.iter().map(|(output, _)| output.c()).collect(),
            values: held.iter().map(|each| each.c).collect(),
            fetches: self.fetches.iter().map(Output::c).collect(),
            targets: self.targets.iter().map(Operation::c).collect(),
            _held: held,
        }
    }
}
