// Sessions. Part of tensorloom/tensorflow.h.
#pragma once

#include "tensorloom/graph.h"

namespace tensorloom {

struct Device {
  std::string name, type;
};

// The values of a step's feeds.
using Feeds = std::vector<std::pair<Output, Tensor>>;

// Runs parts of a graph, which may grow. Threads may run steps at the same time.
class Session {
 public:
  explicit Session(const Graph& graph, const std::string& target = "") : graph_(graph) {
    const auto options = new_options(target);
    Status status;
    session_.reset(TF_NewSession(graph.get(), options.get(), status), remove);
    status.check();
  }

  // The graph of a SavedModel with exactly these tags, into an empty graph.
  static Session load(const std::string& directory, const std::vector<std::string>& tags,
                      const Graph& graph) {
    const auto options = new_options("");
    std::vector<const char*> texts;
    for (const auto& tag : tags) texts.push_back(tag.c_str());
    Status status;
    TF_Session* session = TF_LoadSessionFromSavedModel(
        options.get(), nullptr, directory.c_str(), texts.data(), int(tags.size()),
        graph.get(), nullptr, status);
    status.check();
    return Session(graph, session);
  }

  // Runs what the fetches and targets need; the values of the fetches.
  std::vector<Tensor> run(const Feeds& feeds, const OutputList& fetches,
                          const std::vector<Operation>& targets = {}) const {
    return step(feeds, fetches, [&](const Step& s, TF_Status* status) {
      TF_SessionRun(session_.get(), nullptr, s.inputs.data(), s.values.data(),
                    size_of(s.inputs), fetches.data(), s.results->data(),
                    size_of(fetches), targets.data(), int(targets.size()), nullptr,
                    status);
    });
  }

  // A step in parts, whose outputs and targets are said first.
  class PartialRun {
   public:
    std::vector<Tensor> run(const Feeds& feeds, const OutputList& fetches,
                            const std::vector<Operation>& targets = {}) const {
      return step(feeds, fetches, [&](const Step& s, TF_Status* status) {
        TF_SessionPRun(session_.get(), handle_.get(), s.inputs.data(), s.values.data(),
                       size_of(s.inputs), fetches.data(), s.results->data(),
                       size_of(fetches), targets.data(), int(targets.size()), status);
      });
    }

   private:
    friend class Session;
    std::shared_ptr<TF_Session> session_;
    std::shared_ptr<const char> handle_;
  };

  PartialRun partial_run(const OutputList& feeds, const OutputList& fetches,
                         const std::vector<Operation>& targets = {}) const {
    Status status;
    const char* handle = nullptr;
    TF_SessionPRunSetup(session_.get(), feeds.data(), size_of(feeds), fetches.data(),
                        size_of(fetches), targets.data(), int(targets.size()), &handle,
                        status);
    status.check();
    PartialRun run;
    run.session_ = session_;
    run.handle_.reset(handle, TF_DeletePRunHandle);
    return run;
  }

  std::vector<Device> devices() const {
    Status status;
    std::unique_ptr<TF_DeviceList, void (*)(TF_DeviceList*)> list(
        TF_SessionListDevices(session_.get(), status), TF_DeleteDeviceList);
    status.check();
    std::vector<Device> found;
    for (int i = 0; i < TF_DeviceListCount(list.get()); i++)
      found.push_back({TF_DeviceListName(list.get(), i, status),
                       TF_DeviceListType(list.get(), i, status)});
    status.check();
    return found;
  }

  // Steps fail from then on.
  void close() const {
    Status status;
    TF_CloseSession(session_.get(), status);
    status.check();
  }

 private:
  struct Step {
    OutputList inputs;
    std::vector<TF_Tensor*> values;
    std::vector<TF_Tensor*>* results;
  };

  Session(const Graph& graph, TF_Session* session)
      : graph_(graph), session_(session, remove) {}

  static void remove(TF_Session* session) {
    Status status;
    if (session) TF_DeleteSession(session, status);
  }

  static std::unique_ptr<TF_SessionOptions, void (*)(TF_SessionOptions*)> new_options(
      const std::string& target) {
    TF_SessionOptions* options = TF_NewSessionOptions();
    TF_SetTarget(options, target.c_str());
    return {options, TF_DeleteSessionOptions};
  }

  template <typename Call>
  static std::vector<Tensor> step(const Feeds& feeds, const OutputList& fetches,
                                  Call call) {
    std::vector<TF_Tensor*> results(fetches.size());
    Step step{{}, {}, &results};
    for (const auto& [output, tensor] : feeds) {
      step.inputs.push_back(output);
      step.values.push_back(tensor.get());
    }
    Status status;
    call(step, status);
    status.check();
    return std::vector<Tensor>(results.begin(), results.end());
  }

  Graph graph_;  // it lives as long as the session
  std::shared_ptr<TF_Session> session_;
};

}  // namespace tensorloom
