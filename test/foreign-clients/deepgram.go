// Deepgram's SDK for Go, version 3: a recording, speech that is heard again, live audio, a refusal.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	rest "github.com/deepgram/deepgram-go-sdk/v3/pkg/api/listen/v1/rest"
	live "github.com/deepgram/deepgram-go-sdk/v3/pkg/api/listen/v1/websocket/interfaces"
	speakrest "github.com/deepgram/deepgram-go-sdk/v3/pkg/api/speak/v1/rest"
	"github.com/deepgram/deepgram-go-sdk/v3/pkg/client/interfaces"
	"github.com/deepgram/deepgram-go-sdk/v3/pkg/client/listen"
	"github.com/deepgram/deepgram-go-sdk/v3/pkg/client/speak"
)

const waitMax = 30 * time.Second

type heard struct {
	texts    []string
	interims int
	finished chan struct{}
}

func (h *heard) Open(*live.OpenResponse) error { return nil }
func (h *heard) Message(result *live.MessageResponse) error {
	text := result.Channel.Alternatives[0].Transcript
	if !result.IsFinal {
		h.interims++
	} else if text != "" {
		h.texts = append(h.texts, text)
	}
	return nil
}
func (h *heard) Metadata(*live.MetadataResponse) error           { close(h.finished); return nil }
func (h *heard) SpeechStarted(*live.SpeechStartedResponse) error { return nil }
func (h *heard) UtteranceEnd(*live.UtteranceEndResponse) error   { return nil }
func (h *heard) Close(*live.CloseResponse) error                 { return nil }
func (h *heard) Error(problem *live.ErrorResponse) error {
	fmt.Fprintln(os.Stderr, problem.ErrCode, problem.ErrMsg)
	return nil
}
func (h *heard) UnhandledEvent([]byte) error { return nil }

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// A WAV file in real time, and the end of the stream.
func listenLive(path string, url string, key string) *heard {
	result := &heard{finished: make(chan struct{})}
	// Its socket takes an address without TLS only with this scheme.
	options := &interfaces.ClientOptions{Host: strings.Replace(url, "http", "ws", 1)}
	wanted := &interfaces.LiveTranscriptionOptions{Model: "nova-3", InterimResults: true, Punctuate: true}
	socket := must(listen.NewWSUsingCallback(context.Background(), key, options, wanted, result))
	if !socket.Connect() {
		must(0, errors.New("no connection"))
	}
	sound := must(os.ReadFile(path))
	for len(sound) > 0 {
		piece := min(len(sound), 3200)
		must(socket.Write(sound[:piece]))
		sound = sound[piece:]
		time.Sleep(50 * time.Millisecond)
	}
	must(0, socket.WriteJSON(map[string]string{"type": "CloseStream"}))
	select {
	case <-result.finished:
	case <-time.After(waitMax):
		must(0, errors.New("no Metadata"))
	}
	return result
}

func main() {
	url, key := os.Getenv("TRUNKLINE_URL"), os.Getenv("TRUNKLINE_KEY")
	path := filepath.Join(os.Getenv("AUDIO_DIR"), "short.wav")
	options := func() *interfaces.ClientOptions { return &interfaces.ClientOptions{Host: url} }
	wanted := &interfaces.PreRecordedTranscriptionOptions{Model: "nova-3", Punctuate: true}
	background := context.Background()
	listener := rest.New(listen.NewREST(key, options()))
	file := must(listener.FromFile(background, path, wanted)).Results.Channels[0].Alternatives[0]
	spoken := filepath.Join(must(os.MkdirTemp("", "deepgram")), "spoken.wav")
	speaker := speakrest.New(speak.NewREST(key, options()))
	said := &interfaces.SpeakOptions{Model: "aura-2-thalia-en", Encoding: "linear16", SampleRate: 16000, Container: "wav"}
	must(speaker.ToSave(background, spoken, "Please leave a message after the tone.", said))
	again := must(listener.FromFile(background, spoken, wanted)).Results.Channels[0].Alternatives[0]
	talk := listenLive(path, url, key)
	refusal := "none"
	var refused *interfaces.StatusError
	if _, err := rest.New(listen.NewREST("wrong", options())).FromFile(background, path, wanted); errors.As(err, &refused) {
		refusal = fmt.Sprint("StatusError ", refused.Resp.StatusCode)
	}
	fmt.Println(string(must(json.Marshal(map[string]any{
		"text": file.Transcript, "words": len(file.Words), "spoken": again.Transcript,
		"live": strings.Join(talk.texts, " "), "hasInterims": talk.interims > 0, "refusal": refusal,
	}))))
}
