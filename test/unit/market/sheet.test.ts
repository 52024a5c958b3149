import { expect, test } from 'vitest'
import { fromBase64 } from '../../../src/lib/crypto.ts'
import { firstSheet } from '../../../src/market/sheet.ts'
import { craftZip } from '../../helpers/crafted-zip.ts'

const OPENPYXL =
  'UEsDBBQAAAAIAMohe10iBzZvwQEAAM4DAAAYAAAAeGwvd29ya3NoZWV0cy9zaGVldDEueG1sfVNRb5swEP4ryJX6Mqm2MQTSAtKaadoeJkWtuj074QhWDWa2E7Z/Px9NUDQl4YW7833ffZ91LkZj310L4KM/ne5dSVrvh0dK3baFTroHM0AfThpjO+lDanfUDRZkPYE6TWPGFrSTqidVMdXWtirM3mvVw9pGbt910v59Bm3GknByKryoXeuxQKtikDt4Bf82rG3I6MxSqw56p0wfWWhK8pk/rgT2Tw0/FYzuLI7QycaYd0y+1yVhKAg0bD0yyPA7wAq0RqIg4/eRk8wjEXgen9i/Tt6Dl410sDL6l6p9W5KcRDU0cq/9ixm/wdFPOgv8Ir2sCmvGyKLPqthigLNDn+rxfl69DXUVBvnq/i5mfJk+3d8JlsX8qaA+iMEzuj1in29gecozxPKYLy5hVzewcbbkARtnec7+w9KgfzYRzybiK2QMP35J+jVEGJvwbInjRSIEWsi5SPCf5Mv4opVrXCX/xG/IF7N8MRHgxh6qBWMpXxb0cK5WXFUrFjyZ1CZMMFQp0mS6PJ7k+cXLo2fbgJv+Q9qd6l2koQkz2EOWksh+bM9H4s0wvZSN8d50U9iGBwcWG8J5Y4w/Jbi88xOu/gFQSwMEFAAAAAgAyiF7XQFN6n43AQAACwIAABgAAAB4bC93b3Jrc2hlZXRzL3NoZWV0Mi54bWxNUdFOwzAM/JUoH7B0SAM0tZXGEIIHpGkT8Jy1bhstiYvjUfh7km6t9hDF59h3PicfkE6hA2Dx66wPheyY+7VSoerA6bDAHnx8aZCc5gipVaEn0PXY5Ky6y7J75bTxsszH3I7KHM9sjYcdiXB2TtPfE1gcCrmUU2Jv2o5TQpV5r1s4AH/0O4pIzSy1ceCDQS8ImkJuluvNWD8WfBoYwk0skpMj4imBt7qQWRoILFScGHS8fmAL1iaiOMb3lVPOkqnxNp7YX0bv0ctRB9ii/TI1d4V8lKKGRp8t73F4hauf1Tzgs2Zd5oSDoOSzzKsUJO1YZ3zaz4Ep5k0U4tJjrjjKJ6SqeGLnNM2FKq3pXVNrfBAWmsiSLR5WUtBF+gIY+3HNR2RGN4Zd/C2gVBDfG0SeQHI+/3/5D1BLAwQUAAAACADKIXtdl4q7HMAAAAATAgAACwAAAF9yZWxzLy5yZWxznZK5bsMwDEB/xdCeMAfQIYgzZfEWBPkBVqIP2BIFikWdv6/apXGQCxl5PTwS3B5pQO04pLaLqRj9EFJpWtW4AUi2JY9pzpFCrtQsHjWH0kBE22NDsFosPkAuGWa3vWQWp3OkV4hc152lPdsvT0FvgK86THFCaUhLMw7wzdJ/MvfzDDVF5UojlVsaeNPl/nbgSdGhIlgWmkXJ06IdpX8dx/aQ0+mvYyK0elvo+XFoVAqO3GMljHFitP41gskP7H4AUEsDBBQAAAAIAMohe11Jg3H9QwEAAK0CAAAPAAAAeGwvd29ya2Jvb2sueG1stZJhS8MwEIb/SskPsF3RgWP1i0MdiA4n+5621/VYkiuX26b79aYpxYIgfvHT5d4Lx/O+yfJMfCiJDsmHNc4XqhXpFmnqqxas9lfUgQuThthqCS3vU98x6Nq3AGJNmmfZPLUanbpbjrs2nE4bEqgEyQWxF3YIZ/8979vkhB5LNCifhYpnAyqx6NDiBepCZSrxLZ2fiPFCTrTZVkzGFGo2DHbAgtUPedtDvuvSR0V0+aYDSKHmWVjYIHuJN+J+HRhPEC4P3VHoAY0Ar7TAI9OxQ7fv1wQX6cRGzGGsQ4gL/kuM1DRYwYqqowUnQ44Mpgd0vsXOq8RpC4WKiL2fUNb14E0C1CQpXmAY8LqOeP+HQtICT1DyX1DymNQYTw0NOqhfwhof9PBU1YaTvkRL+fXN7DY8ydGY+6C9umfS9Zj2+FPuvgBQSwMEFAAAAAgAyiF7XY33LFq0AAAAiQIAABoAAAB4bC9fcmVscy93b3JrYm9vay54bWwucmVsc8WSTQqDMBBGrxJygI7a0kVRV924LV4g6PiD0YTMlOrta3WhgS66ka7CNyHvezCJH6gVt2agprUkxl4PlMiG2d4AqGiwV3QyFof5pjKuVzxHV4NVRadqhCgIruD2DJnGe6bIJ4u/EE1VtQXeTfHsceAvYHgZ11GDyFLkytXIiYRRb2OC5QhPM1mKrEyky8pQwr+FIk8oOlCIeNJIm82avfrzgfU8v8WtfYnr0N/J5eMA3s9L31BLAwQUAAAACADKIXtdbqckvB4BAABXBAAAEwAAAFtDb250ZW50X1R5cGVzXS54bWzFlM9OwzAMxl+lynVqMnbggNZdgCvswAuE1l2j5p9ib3Rvj9tuk0CjYioSl0aN7e/n+IuyfjtGwKxz1mMhGqL4oBSWDTiNMkTwHKlDcpr4N+1U1GWrd6BWy+W9KoMn8JRTryE26yeo9d5S9tzxNprgC5HAosgex8SeVQgdozWlJo6rg6++UfITQXLlkIONibjgBKGuEvrIz4BT3esBUjIVZFud6EU7zlKdVUhHCyinJa70GOralFCFcu+4RGJMoCtsAMhZOYoupsnEE4bxezebP8hMATlzm0JEdizB7bizJX11HlkIEpnpI16ILD37fNC7XUH1SzaP9yOkdvAD1bDMn/FXjy/6N/ax+sc+3kNo//qq96t02vgzXw3vyeYTUEsBAhQDFAAAAAgAyiF7XSIHNm/BAQAAzgMAABgAAAAAAAAAAAAAAIABAAAAAHhsL3dvcmtzaGVldHMvc2hlZXQxLnhtbFBLAQIUAxQAAAAIAMohe10BTep+NwEAAAsCAAAYAAAAAAAAAAAAAACAAfcBAAB4bC93b3Jrc2hlZXRzL3NoZWV0Mi54bWxQSwECFAMUAAAACADKIXtdl4q7HMAAAAATAgAACwAAAAAAAAAAAAAAgAFkAwAAX3JlbHMvLnJlbHNQSwECFAMUAAAACADKIXtdSYNx/UMBAACtAgAADwAAAAAAAAAAAAAAgAFNBAAAeGwvd29ya2Jvb2sueG1sUEsBAhQDFAAAAAgAyiF7XY33LFq0AAAAiQIAABoAAAAAAAAAAAAAAIABvQUAAHhsL19yZWxzL3dvcmtib29rLnhtbC5yZWxzUEsBAhQDFAAAAAgAyiF7XW6nJLweAQAAVwQAABMAAAAAAAAAAAAAAIABqQYAAFtDb250ZW50X1R5cGVzXS54bWxQSwUGAAAAAAYABgCLAQAA+AcAAAAA'

const BOOK = `<?xml version="1.0"?><x:workbook xmlns:x="m" xmlns:r="r"><x:sheets><x:sheet name="A" sheetId="7" r:id="rId3"/>
  <x:sheet name="B" sheetId="1" r:id="rId1"/></x:sheets></x:workbook>`
const LINKS = `<Relationships><Relationship Id="rId1" Target="worksheets/sheet2.xml"/>
  <Relationship Target='/xl/worksheets/first.xml' Id='rId3'/></Relationships>`

const workbook = (sheet: string, more: { name: string; data: string }[] = []) =>
  craftZip(
    [
      { name: 'xl/workbook.xml', data: BOOK },
      { name: 'xl/_rels/workbook.xml.rels', data: LINKS },
      { name: 'xl/worksheets/first.xml', data: sheet },
      ...more,
    ].map((entry) => ({ ...entry, deflated: true })),
  )

test('the first sheet is read with shared, written and computed cells, each in its row and column', async () => {
  const shared = `<sst><si><t>code</t></si><si><r><t>贵州</t></r><r><t xml:space="preserve">茅台 </t></r><rPh><t>gui</t></rPh></si>
    <si><t>A&amp;B &#x4e2d;&#25991; &lt;t&gt;</t></si><si/></sst>`
  const sheet = `<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row><row r="2"/>
    <row r="4"><c r="B4"><v>6.00519E5</v></c><c r="C4" t="s"><v>2</v></c><c r="D4" t="inlineStr"><is><t>in</t><t>line</t></is></c></row>
    <row r="5"><c r="A5" t="str"><f>HYPERLINK("http://x","600519")</f><v>600519</v></c><c r="B5" t="e"><v>#REF!</v></c>
    <c r="ZZ5"><v>far</v></c><c r="C5" t="s"><v>99</v></c></row></sheetData></worksheet>`
  expect(await firstSheet(workbook(sheet, [{ name: 'xl/sharedStrings.xml', data: shared }]), 1_000)).toEqual({
    ok: true,
    total: 3,
    rows: [
      { row: 1, cells: ['code', '', '贵州茅台'] },
      { row: 4, cells: ['', '600519', 'A&B 中文 <t>', 'inline'] },
      { row: 5, cells: ['600519', '', ''] },
    ],
  })
})

test('a workbook that another program wrote is read', async () => {
  // Written by openpyxl 3.0.9, without its styles and theme: three rows, the codes once as text and once as a number.
  const bytes = fromBase64(OPENPYXL)
  expect(await firstSheet(bytes ?? new Uint8Array(), 1_000)).toEqual({
    ok: true,
    total: 3,
    rows: [
      { row: 1, cells: ['代码', '名称', '备注'] },
      { row: 2, cells: ['000001', '平安银行', '=1+1'] },
      { row: 3, cells: ['600519', '贵州茅台'] },
    ],
  })
})

test('what is no workbook, or would be too much of one, is refused and not unpacked', async () => {
  const reason = async (bytes: Uint8Array) => {
    const sheet = await firstSheet(bytes, 1_000)
    return sheet.ok ? 'read' : sheet.reason
  }
  expect(await reason(craftZip([{ name: 'a.txt', data: 'x' }]))).toBe('not_workbook')
  expect(await reason(workbook('<worksheet/>').subarray(0, 300))).toBe('damaged')
  expect(await reason(craftZip([{ name: 'xl/workbook.xml', data: '<workbook/>' }]))).toBe('not_workbook')
  const entities = '<!DOCTYPE x [<!ENTITY a "b">]><worksheet/>'
  expect(await reason(workbook(entities))).toBe('damaged')
  const parts = Array.from({ length: 2_001 }, (_, i) => ({ name: `x/${i}`, data: '' }))
  expect(await reason(craftZip(parts))).toBe('too_large')
  const bomb = { name: 'xl/sharedStrings.xml', data: ' '.repeat(21 * 1024 * 1024) }
  expect(await reason(workbook('<worksheet/>', [bomb]))).toBe('too_large')
  const liar = { name: 'xl/workbook.xml', data: BOOK, deflated: true, claims: { size: 10 } }
  expect(await reason(craftZip([liar]))).toBe('damaged')
  const locked = { name: 'xl/workbook.xml', data: BOOK, claims: { flags: 1 } }
  expect(await reason(craftZip([locked]))).toBe('encrypted')
  const outside = LINKS.replace('/xl/worksheets/first.xml', '../../etc/passwd')
  const pointing = [
    { name: 'xl/workbook.xml', data: BOOK },
    { name: 'xl/_rels/workbook.xml.rels', data: outside },
  ]
  expect(await reason(craftZip(pointing))).toBe('not_workbook')
})

test('reading ends behind the rows that are wanted, the rest is counted, and a sheet of nothing but marks is given up', async () => {
  const row = '<row><c><v>1</v></c></row>'
  const sheet = await firstSheet(workbook(`<worksheet>${'<row/>'.repeat(9)}${row.repeat(50_000)}</worksheet>`), 12)
  expect(sheet.ok && [sheet.rows.length, sheet.rows[0]?.row, sheet.total]).toEqual([12, 10, 50_000])
  expect(await firstSheet(workbook('<row/>'.repeat(1_000_001)), 12)).toEqual({ ok: false, reason: 'too_large' })
})
