// Decodes JSON of a type of the OpenAPI document from standard input, and writes what it has
// decoded.
//
// usage: decode HistoryLine|StreamMessage
package main

import (
	"encoding/json"
	"io"
	"log"
	"os"

	"example.org/play/dog"
)

func main() {
	decoder, encoder := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var value any
		switch os.Args[1] {
		case "HistoryLine":
			value = new(dog.HistoryLine)
		case "StreamMessage":
			value = new(dog.StreamMessage)
		default:
			log.Fatal("unknown type ", os.Args[1])
		}
		err := decoder.Decode(value)
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		if err := encoder.Encode(value); err != nil {
			log.Fatal(err)
		}
	}
}
