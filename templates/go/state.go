package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const pollEvery = 100 * time.Millisecond

// checkpoint is the file of a stage: `acor resume` starts the tool again with it.
type checkpoint struct {
	Stage   string          `json:"stage"`
	Version int             `json:"version"`
	SavedAt string          `json:"saved_at"`
	Data    json.RawMessage `json:"data"`
}

// saveCheckpoint keeps the state of a stage. It is on the disk when this returns, and a kill leaves no part of a file.
func saveCheckpoint(stage string, state any) {
	data, err := json.Marshal(state)
	if err == nil {
		now := time.Now().UTC().Format(time.RFC3339)
		err = writeCheckpoint(checkpoint{stage, readCheckpoint(stage).Version + 1, now, data})
	}
	if err != nil {
		fail("E_STORAGE", "the checkpoint cannot be saved: "+err.Error(), "See whether the disk is full or read-only.")
	}
}

// loadCheckpoint reads the state that was saved last; false when this stage has none yet.
func loadCheckpoint(stage string, state any) bool {
	saved := readCheckpoint(stage)
	if saved.Version == 0 {
		return false
	}
	if err := json.Unmarshal(saved.Data, state); err != nil {
		fail("E_STORAGE", err.Error(), "Run the tool from its beginning: acor retry.")
	}
	return true
}

func readCheckpoint(stage string) checkpoint {
	var saved checkpoint
	text, err := os.ReadFile(checkpointFile(stage))
	if os.IsNotExist(err) {
		return saved
	}
	if err != nil || json.Unmarshal(text, &saved) != nil || saved.Stage != stage {
		fail("E_STORAGE", checkpointFile(stage)+" is not a checkpoint of this stage", "Run the tool from its beginning: acor retry.")
	}
	return saved
}

func writeCheckpoint(saved checkpoint) error {
	path := checkpointFile(saved.Stage)
	text, err := json.Marshal(saved)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.Create(path + ".tmp")
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(append(text, '\n')); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

func checkpointFile(stage string) string {
	folder := os.Getenv("CHECKPOINT_DIR")
	if folder == "" {
		folder = ".checkpoints"
	}
	return filepath.Join(folder, stage+".json")
}

// ask asks a question and waits for the answer, which may be there from an earlier attempt. List the action under `actions` in tool.yaml.
func ask(action, msg string, options ...string) any {
	choices := []fields{}
	for _, id := range options {
		choices = append(choices, fields{"id": id})
	}
	id := nextActionID(action)
	question := fields{"action": action, "action_id": id, "msg": msg, "blocking": true, "context": fields{}}
	if len(choices) > 0 {
		question["options"] = choices
	}
	for isAsked := false; ; time.Sleep(pollEvery) {
		if given, ok := readAnswer(id); ok {
			return given.Answer
		}
		if !isAsked {
			emit("action_required", question)
			isAsked = true
		}
		checkCancel()
	}
}

// asked is how many questions this process has asked.
var asked int

// nextActionID counts a-1, a-2 … in the order of asking. A number whose answer belongs to another action is left out: an attempt
// that resumes may not ask everything again.
func nextActionID(action string) string {
	for {
		asked++
		id := fmt.Sprintf("a-%d", asked)
		if given, ok := readAnswer(id); !ok || given.Action == action {
			return id
		}
	}
}

// answer is what the runner wrote for a question.
type answer struct {
	Action string
	Answer any
}

func readAnswer(id string) (given answer, ok bool) {
	text, err := os.ReadFile(filepath.Join(os.Getenv("ANSWERS_DIR"), id+".json"))
	ok = err == nil && json.Unmarshal(text, &given) == nil
	return given, ok
}

// heartbeat shows that a long step without messages is at work, until `stop` is called.
func heartbeat(step string, every time.Duration) (stop func()) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(every):
				emit("heartbeat", fields{"step": step})
			}
		}
	}()
	return func() { close(done) }
}
