package store_test

import (
	"testing"

	"platen/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }
