package lang_test

import (
	"testing"

	"platen/docx/lang"
)

func TestFormattedTextIsNeitherNumberNorDate(t *testing.T) {
	wrong := []string{
		`{{(n :: format("#,##0")) * 2}}`, `{{$sum(items.p :: format("#,##0"))}}`, `{{$sum(items, p :: currency("EUR"))}}`,
		`{{n :: format("#,##0") :: currency("EUR")}}`, `{{n :: format("EU-Number") :: add(1)}}`, `{{-(n :: percent)}}`,
		`{{n :: ordinal :: add(1)}}`, `{{n :: words :: uppercase :: percent}}`, `{{n :: format("0.00") :: default(0) :: add(period)}}`,
		`{{d :: date("M/d/yyyy") :: date("long")}}`, `{{d :: date("dd/MM/yyyy") :: add("+1 day")}}`, `{{$days(d :: date("short"), e)}}`,
		`{{d :: format("mm-dd-yyyy") :: date}}`, `{{d :: date :: time}}`, `{{d :: date(pattern) :: date}}`,
		`{{if (n :: format("#,##0")) > 1000}}`, `{{if 1000 == (n :: format("#,##0"))}}`, `{{if (d :: date("dd/MM/yyyy")) < $today}}`,
		`{{if (d :: date("dd/MM/yyyy")) < "05/06/2026"}}`, `{{if (n :: format("#,##0")) < limit}}`,
		`{{$if(a, n :: format("#,##0"), "-") * 2}}`, `{{gone :: default(n :: format("#,##0")) :: add(1)}}`,
		`{{for i in items :: where((p :: format("#,##0")) > 5)}}`, `{{n :: pad(w :: format("#,##0"))}}`,
	}
	for _, text := range wrong {
		if _, err := lang.ParseTag(text); err == nil {
			t.Errorf("%s: formatted text is used as a number or a date", text)
		}
	}
	right := []string{
		`{{(d :: date("yyyy")) + 1}}`, `{{if (d :: date("H")) < 12}}`, `{{n :: format("000") :: add(1)}}`, `{{d :: date("yyyy-MM-dd") :: date}}`,
		`{{d :: date("yyyyMMdd") :: date("long")}}`, `{{d :: date("dd.MM.yyyy") :: add("+1 day")}}`,
		`{{d :: date("d MMMM yyyy") :: add(period)}}`,
		`{{"20260305" :: format("xxxx-xx-xx") :: date}}`, `{{n :: format("#,##0") :: replace(",", "") :: add(1)}}`,
		`{{if (d :: date("dd/MM/yyyy")) == "05/06/2026"}}`, `{{if (at :: time("HH:mm")) < "12:00"}}`, `{{if (n :: format("#,##0")) == "1,000"}}`,
		`{{n :: format("#,##0") :: pad(10)}}`, `{{$string(n :: format("#,##0"), " km")}}`, `{{n :: words :: capitalize}}`,
		`{{items :: where((d :: date("MM")) == month) :: count}}`, `{{d :: date("dd/MM/yyyy") :: split("/") :: first}}`,
	}
	for _, text := range right {
		if _, err := lang.ParseTag(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
