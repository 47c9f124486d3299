package tool_test

import (
	"context"
	"fmt"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// A tool is a description and a function. The schema of its args is made of their type.
func ExampleNew() {
	type args struct {
		City string `json:"city" jsonschema:"name of the city"`
		Days int    `json:"days,omitempty" jsonschema:"days ahead"`
	}
	weather := tool.New(tool.Description{
		Name:        "weather",
		Description: "Says what the weather will be like in a city.",
		Kind:        protocol.KindNet,
	}, func(_ context.Context, a args) (protocol.Result, error) {
		if a.City == "" {
			return tool.Failed("no city is given"), nil
		}
		return tool.OK(fmt.Sprintf("sunny in %s, %d days ahead", a.City, a.Days)), nil
	})

	fmt.Println(string(weather.Describe().Schema))
	result, err := weather.Run(context.Background(), protocol.RawMessage(`{"city":"Oslo","days":2}`))
	fmt.Println(result.Content.Text(), err)
	_, err = weather.Run(context.Background(), protocol.RawMessage(`{"town":"Oslo"}`))
	fmt.Println(err != nil)
	// Output:
	// {"type":"object","properties":{"city":{"type":"string","description":"name of the city"},"days":{"type":"integer","description":"days ahead"}},"required":["city"],"additionalProperties":false}
	// sunny in Oslo, 2 days ahead <nil>
	// true
}

// A tool may state its own schema and take its args as they are.
func ExampleNew_rawArgs() {
	echo := tool.New(tool.Description{
		Name:   "echo",
		Schema: protocol.RawMessage(`{"type":"object"}`),
	}, func(_ context.Context, args protocol.RawMessage) (protocol.Result, error) {
		return tool.OK(string(args)), nil
	})
	result, _ := echo.Run(context.Background(), protocol.RawMessage(`{"n":12345678901234567890}`))
	fmt.Println(result.Content.Text(), echo.Describe().Kind)
	// Output: {"n":12345678901234567890} other
}
