package org.tensorflow;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import com.sun.jna.Structure.FieldOrder;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.util.Map;

/** The functions of tensorflow/c/c_api.h that this package calls. */
interface CApi extends Library {
  /** The library; the property tensorloom.library is its path, or a name that is searched for. */
  CApi LIB =
      Native.load(
          System.getProperty("tensorloom.library", "tensorloom"),
          CApi.class,
          Map.of(Library.OPTION_STRING_ENCODING, "UTF-8"));

  /** TF_Output, and TF_Input, which has the same members. */
  @FieldOrder({"oper", "index"})
  class Port extends Structure {
    public Pointer oper;
    public int index;

    public static final class ByValue extends Port implements Structure.ByValue {}
  }

  @FieldOrder({
    "count", "condGraph", "condInputs", "condOutput", "bodyGraph", "bodyInputs", "bodyOutputs", "name"
  })
  class WhileParams extends Structure {
    public int count;
    public Pointer condGraph;
    public Pointer condInputs;
    public Port condOutput;
    public Pointer bodyGraph;
    public Pointer bodyInputs;
    public Pointer bodyOutputs;
    public Pointer name;

    public static final class ByValue extends WhileParams implements Structure.ByValue {}
  }

  @FieldOrder({"isList", "listSize", "type", "totalSize"})
  class AttrMetadata extends Structure {
    public byte isList;
    public long listSize;
    public int type;
    public long totalSize;

    public static final class ByValue extends AttrMetadata implements Structure.ByValue {}
  }

  @FieldOrder({"data", "length", "deallocator"})
  class Buffer extends Structure {
    public Pointer data;
    public long length;
    public Pointer deallocator;

    public static final class ByValue extends Buffer implements Structure.ByValue {}

    public Buffer() {}

    Buffer(Pointer at) {
      super(at);
      read();
    }

    byte[] bytes() {
      return length == 0 ? new byte[0] : data.getByteArray(0, (int) length);
    }
  }

  String TF_Version();

  long TF_DataTypeSize(int dtype);

  Pointer TF_NewStatus();

  void TF_DeleteStatus(Pointer status);

  int TF_GetCode(Pointer status);

  String TF_Message(Pointer status);

  Pointer TF_NewBuffer();

  Pointer TF_NewBufferFromString(byte[] data, long size);

  void TF_DeleteBuffer(Pointer buffer);

  Pointer TF_AllocateTensor(int dtype, long[] dims, int rank, long size);

  void TF_DeleteTensor(Pointer tensor);

  int TF_TensorType(Pointer tensor);

  int TF_NumDims(Pointer tensor);

  long TF_Dim(Pointer tensor, int index);

  long TF_TensorByteSize(Pointer tensor);

  Pointer TF_TensorData(Pointer tensor);

  Pointer TF_NewGraph();

  void TF_DeleteGraph(Pointer graph);

  void TF_GraphSetTensorShape(Pointer graph, Port.ByValue output, long[] dims, int rank, Pointer status);

  int TF_GraphGetTensorNumDims(Pointer graph, Port.ByValue output, Pointer status);

  void TF_GraphGetTensorShape(Pointer graph, Port.ByValue output, long[] dims, int rank, Pointer status);

  Pointer TF_GraphOperationByName(Pointer graph, String name);

  Pointer TF_GraphNextOperation(Pointer graph, LongByReference position);

  void TF_GraphToGraphDef(Pointer graph, Pointer buffer, Pointer status);

  void TF_GraphGetOpDef(Pointer graph, String type, Pointer buffer, Pointer status);

  byte TF_TryEvaluateConstant(Pointer graph, Port.ByValue output, PointerByReference result, Pointer status);

  Pointer TF_NewOperation(Pointer graph, String type, String name);

  void TF_SetDevice(Pointer description, String device);

  void TF_AddInput(Pointer description, Port.ByValue input);

  void TF_AddInputList(Pointer description, Pointer inputs, int count);

  void TF_AddControlInput(Pointer description, Pointer operation);

  void TF_ColocateWith(Pointer description, Pointer operation);

  void TF_SetAttrString(Pointer description, String name, byte[] value, long length);

  void TF_SetAttrStringList(Pointer description, String name, Pointer[] values, long[] lengths, int count);

  void TF_SetAttrInt(Pointer description, String name, long value);

  void TF_SetAttrIntList(Pointer description, String name, long[] values, int count);

  void TF_SetAttrFloat(Pointer description, String name, float value);

  void TF_SetAttrFloatList(Pointer description, String name, float[] values, int count);

  void TF_SetAttrBool(Pointer description, String name, byte value);

  void TF_SetAttrBoolList(Pointer description, String name, byte[] values, int count);

  void TF_SetAttrType(Pointer description, String name, int value);

  void TF_SetAttrTypeList(Pointer description, String name, int[] values, int count);

  void TF_SetAttrFuncName(Pointer description, String name, byte[] value, long length);

  void TF_SetAttrShape(Pointer description, String name, long[] dims, int rank);

  void TF_SetAttrShapeList(Pointer description, String name, Pointer[] dims, int[] ranks, int count);

  void TF_SetAttrTensor(Pointer description, String name, Pointer value, Pointer status);

  void TF_SetAttrTensorList(Pointer description, String name, Pointer[] values, int count, Pointer status);

  void TF_SetAttrValueProto(Pointer description, String name, byte[] data, long size, Pointer status);

  Pointer TF_FinishOperation(Pointer description, Pointer status);

  String TF_OperationName(Pointer operation);

  String TF_OperationOpType(Pointer operation);

  String TF_OperationDevice(Pointer operation);

  int TF_OperationNumOutputs(Pointer operation);

  int TF_OperationOutputType(Port.ByValue output);

  int TF_OperationOutputListLength(Pointer operation, String name, Pointer status);

  int TF_OperationNumInputs(Pointer operation);

  int TF_OperationInputListLength(Pointer operation, String name, Pointer status);

  Port.ByValue TF_OperationInput(Port.ByValue input);

  int TF_OperationOutputNumConsumers(Port.ByValue output);

  int TF_OperationOutputConsumers(Port.ByValue output, Pointer consumers, int max);

  int TF_OperationNumControlInputs(Pointer operation);

  int TF_OperationGetControlInputs(Pointer operation, Pointer[] found, int max);

  int TF_OperationNumControlOutputs(Pointer operation);

  int TF_OperationGetControlOutputs(Pointer operation, Pointer[] found, int max);

  void TF_OperationToNodeDef(Pointer operation, Pointer buffer, Pointer status);

  AttrMetadata.ByValue TF_OperationGetAttrMetadata(Pointer operation, String name, Pointer status);

  void TF_OperationGetAttrString(Pointer operation, String name, Pointer value, long size, Pointer status);

  void TF_OperationGetAttrStringList(
      Pointer operation, String name, Pointer[] values, long[] lengths, int max, Pointer storage, long size,
      Pointer status);

  void TF_OperationGetAttrInt(Pointer operation, String name, long[] value, Pointer status);

  void TF_OperationGetAttrIntList(Pointer operation, String name, long[] values, int max, Pointer status);

  void TF_OperationGetAttrFloat(Pointer operation, String name, float[] value, Pointer status);

  void TF_OperationGetAttrFloatList(Pointer operation, String name, float[] values, int max, Pointer status);

  void TF_OperationGetAttrBool(Pointer operation, String name, byte[] value, Pointer status);

  void TF_OperationGetAttrBoolList(Pointer operation, String name, byte[] values, int max, Pointer status);

  void TF_OperationGetAttrType(Pointer operation, String name, int[] value, Pointer status);

  void TF_OperationGetAttrTypeList(Pointer operation, String name, int[] values, int max, Pointer status);

  void TF_OperationGetAttrShape(Pointer operation, String name, long[] dims, int rank, Pointer status);

  void TF_OperationGetAttrShapeList(
      Pointer operation, String name, Pointer[] dims, int[] ranks, int count, Pointer storage, int size,
      Pointer status);

  void TF_OperationGetAttrTensor(Pointer operation, String name, Pointer[] value, Pointer status);

  void TF_OperationGetAttrTensorList(Pointer operation, String name, Pointer[] values, int max, Pointer status);

  void TF_OperationGetAttrValueProto(Pointer operation, String name, Pointer buffer, Pointer status);

  Pointer TF_NewImportGraphDefOptions();

  void TF_DeleteImportGraphDefOptions(Pointer options);

  void TF_ImportGraphDefOptionsSetPrefix(Pointer options, String prefix);

  void TF_ImportGraphDefOptionsSetDefaultDevice(Pointer options, String device);

  void TF_ImportGraphDefOptionsSetUniquifyNames(Pointer options, byte yes);

  void TF_ImportGraphDefOptionsAddInputMapping(Pointer options, String name, int index, Port.ByValue output);

  void TF_ImportGraphDefOptionsRemapControlDependency(Pointer options, String name, Pointer operation);

  void TF_ImportGraphDefOptionsAddControlDependency(Pointer options, Pointer operation);

  void TF_ImportGraphDefOptionsAddReturnOutput(Pointer options, String name, int index);

  void TF_ImportGraphDefOptionsAddReturnOperation(Pointer options, String name);

  Pointer TF_GraphImportGraphDefWithResults(Pointer graph, Pointer def, Pointer options, Pointer status);

  void TF_DeleteImportGraphDefResults(Pointer results);

  void TF_ImportGraphDefResultsReturnOutputs(Pointer results, IntByReference count, PointerByReference outputs);

  void TF_ImportGraphDefResultsReturnOperations(
      Pointer results, IntByReference count, PointerByReference operations);

  void TF_ImportGraphDefResultsMissingUnusedInputMappings(
      Pointer results, IntByReference count, PointerByReference names, PointerByReference indices);

  void TF_AddGradientsWithPrefix(
      Pointer graph, String prefix, Pointer ys, int yCount, Pointer xs, int xCount, Pointer dxs, Pointer status,
      Pointer dys);

  WhileParams.ByValue TF_NewWhile(Pointer graph, Pointer inputs, int count, Pointer status);

  void TF_FinishWhile(Pointer params, Pointer status, Pointer outputs);

  void TF_AbortWhile(Pointer params);

  Pointer TF_GraphToFunction(
      Pointer body, String name, byte hash, int operationCount, Pointer[] operations, int inputCount,
      Pointer inputs, int outputCount, Pointer outputs, String[] outputNames, Pointer options,
      String description, Pointer status);

  Pointer TF_FunctionImportFunctionDef(byte[] def, long size, Pointer status);

  String TF_FunctionName(Pointer function);

  void TF_FunctionToFunctionDef(Pointer function, Pointer buffer, Pointer status);

  void TF_DeleteFunction(Pointer function);

  void TF_GraphCopyFunction(Pointer graph, Pointer function, Pointer gradient, Pointer status);

  int TF_GraphNumFunctions(Pointer graph);

  int TF_GraphGetFunctions(Pointer graph, Pointer[] functions, int max, Pointer status);

  Pointer TF_NewSessionOptions();

  void TF_DeleteSessionOptions(Pointer options);

  void TF_SetTarget(Pointer options, String target);

  void TF_SetConfig(Pointer options, byte[] config, long size, Pointer status);

  Pointer TF_NewSession(Pointer graph, Pointer options, Pointer status);

  Pointer TF_LoadSessionFromSavedModel(
      Pointer options, Pointer runOptions, String directory, String[] tags, int tagCount, Pointer graph,
      Pointer metaGraph, Pointer status);

  void TF_CloseSession(Pointer session, Pointer status);

  void TF_DeleteSession(Pointer session, Pointer status);

  void TF_SessionRun(
      Pointer session, Pointer runOptions, Pointer inputs, Pointer[] inputValues, int inputCount,
      Pointer outputs, Pointer[] outputValues, int outputCount, Pointer[] targets, int targetCount,
      Pointer runMetadata, Pointer status);

  void TF_SessionPRunSetup(
      Pointer session, Pointer inputs, int inputCount, Pointer outputs, int outputCount, Pointer[] targets,
      int targetCount, PointerByReference handle, Pointer status);

  void TF_SessionPRun(
      Pointer session, Pointer handle, Pointer inputs, Pointer[] inputValues, int inputCount, Pointer outputs,
      Pointer[] outputValues, int outputCount, Pointer[] targets, int targetCount, Pointer status);

  void TF_DeletePRunHandle(Pointer handle);

  Pointer TF_SessionListDevices(Pointer session, Pointer status);

  int TF_DeviceListCount(Pointer list);

  String TF_DeviceListName(Pointer list, int index, Pointer status);

  String TF_DeviceListType(Pointer list, int index, Pointer status);

  long TF_DeviceListMemoryBytes(Pointer list, int index, Pointer status);

  void TF_DeleteDeviceList(Pointer list);

  Pointer TF_LoadLibrary(String filename, Pointer status);

  Buffer.ByValue TF_GetOpList(Pointer library);

  void TF_DeleteLibraryHandle(Pointer library);

  Pointer TF_GetAllOpList();

  Pointer TF_GetRegisteredKernelsForOp(String name, Pointer status);
}
