// A session over the network alone: MasterService of a TensorFlow server, with GraphDefs
// and TensorProtos. Neither libtensorloom nor TensorFlow is on the client's machine.
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { decodeTensor, encodeTensor } from './tensor_proto.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The messages of the protocol, read from the project's .proto files. */
export const messages = (() => {
  const root = new protobuf.Root();
  root.resolvePath = (_, target) => (target.startsWith('google/') ? target : ROOT + target);
  root.loadSync('tensorloom/protos/master.proto', { keepCase: true });
  return (name) => root.lookupType(`tensorflow.${name}`);
})();

const CODES = Object.fromEntries(Object.entries(grpc.status).filter(([, n]) => typeof n === 'number').map(([name, n]) => [n, name]));

/** An error of the server; `code` is TensorFlow's, such as "INVALID_ARGUMENT". */
export class ServerError extends Error {
  constructor(code, message) {
    super(message);
    this.code = CODES[code] ?? String(code);
  }
}

/** A session in the master of a server. */
export class NetworkSession {
  #client;
  #handle;
  #version = 0;

  constructor(client) { this.#client = client; }

  /**
   * Makes a session of a graph.
   * @param target "grpc://HOST:PORT"
   * @param nodes the nodes of the graph, see graph.js
   * @param config a ConfigProto as an object
   */
  static async create(target, nodes = [], config = {}) {
    const client = new grpc.Client(target.replace('grpc://', ''), grpc.credentials.createInsecure(), {
      'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1,
    });
    const session = new NetworkSession(client);
    try {
      const reply = await session.#call('CreateSession', { graph_def: graphDef(nodes), config });
      session.#handle = reply.session_handle;
      session.#version = reply.graph_version;
      return session;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  #call(method, request) {
    const Request = messages(`${method}Request`);
    const Response = messages(`${method}Response`);
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        `/tensorflow.MasterService/${method}`,
        (message) => Buffer.from(Request.encode(message).finish()),
        (bytes) => Response.decode(bytes),
        Request.fromObject(request),
        (error, reply) => (error ? reject(new ServerError(error.code, error.details)) : resolve(reply)),
      );
    });
  }

  /** Adds nodes to the graph. */
  async extend(nodes) {
    const reply = await this.#call('ExtendSession', {
      session_handle: this.#handle, graph_def: graphDef(nodes), current_graph_version: this.#version,
    });
    this.#version = reply.new_graph_version;
  }

  /**
   * Runs one step.
   * @param feeds values by the names of tensors: {dtype, shape, data}
   * @param fetches names of tensors
   * @param targets names of nodes
   * @returns the fetches' values, in order
   */
  async run(feeds, fetches, targets = []) {
    const reply = await this.#call('RunStep', {
      session_handle: this.#handle,
      feed: Object.entries(feeds).map(([name, value]) => ({ name, tensor: encodeTensor(value) })),
      fetch: fetches,
      target: targets,
      options: {},
    });
    const values = Object.fromEntries(reply.tensor.map(({ name, tensor }) => [name, decodeTensor(tensor)]));
    return fetches.map((name) => values[name]);
  }

  /** The devices of the cluster. */
  async listDevices() {
    const { local_device: local, remote_device: remote } = await this.#call('ListDevices', {
      session_handle: this.#handle,
    });
    return [...local, ...remote].map(({ name, device_type: type }) => ({ name, type }));
  }

  /** Ends the session in the master. */
  async close() {
    await this.#call('CloseSession', { session_handle: this.#handle });
    this.#client.close();
  }
}

function graphDef(nodes) {
  // The version of TensorFlow 1.15's graphs.
  return { node: nodes, versions: { producer: 134 } };
}
