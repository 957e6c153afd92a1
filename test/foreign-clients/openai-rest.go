// go-openai by its address alone: a recording, speech that is heard again, a refusal.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	openai "github.com/sashabaranov/go-openai"
)

func clientWith(key string) *openai.Client {
	config := openai.DefaultConfig(key)
	config.BaseURL = os.Getenv("TRUNKLINE_URL") + "/v1"
	return openai.NewClientWithConfig(config)
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	background := context.Background()
	client := clientWith(os.Getenv("TRUNKLINE_KEY"))
	file := must(client.CreateTranscription(background, openai.AudioRequest{
		Model:                  openai.Whisper1,
		FilePath:               filepath.Join(os.Getenv("AUDIO_DIR"), "short.wav"),
		Format:                 openai.AudioResponseFormatVerboseJSON,
		TimestampGranularities: []openai.TranscriptionTimestampGranularity{openai.TranscriptionTimestampGranularityWord},
	}))
	speech := must(client.CreateSpeech(background, openai.CreateSpeechRequest{
		Model:          openai.TTSModel1,
		Input:          "Please leave a message after the tone.",
		Voice:          openai.VoiceAlloy,
		ResponseFormat: openai.SpeechResponseFormatWav,
	}))
	sound := must(io.ReadAll(speech))
	again := must(client.CreateTranscription(background, openai.AudioRequest{
		Model: openai.Whisper1, FilePath: "speech.wav", Reader: bytes.NewReader(sound),
	}))
	refusal := "none"
	var refused *openai.APIError
	if _, err := clientWith("wrong").ListModels(background); errors.As(err, &refused) {
		refusal = fmt.Sprint("APIError ", refused.HTTPStatusCode)
	}
	fmt.Println(string(must(json.Marshal(map[string]any{
		"text": file.Text, "words": len(file.Words), "spoken": again.Text, "refusal": refusal,
	}))))
}
