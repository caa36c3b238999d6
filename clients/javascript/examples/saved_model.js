// Loads the SavedModel of the conformance suite and runs it: node saved_model.js DIRECTORY
import { loadSavedModel } from '../lib/index.js';

const { graph, session } = loadSavedModel(process.argv[2], ['serve']);
const [scores] = await session.run(
  [[graph.operation('x').output(0), [[1, 2, 3], [4, 5, 6]]]],
  [graph.operation('scores').output(0)],
);
console.log(scores.value());
session.close();
