// Loopback versions of the hosts that publish lists of listings, in their own formats and encodings. The first rows are real ones as
// the hosts write them; the rest are invented, because a list that is too short is refused.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type LoopbackLists = { url: string; asked: string[]; close: () => Promise<void> }

/** The response of a host instead of its list, for tests of failures. */
export type ListAnswers = Partial<Record<'nasdaq' | 'kind' | 'mops' | 'eastmoney', string>>

export async function startLoopbackLists(instead: ListAnswers = {}): Promise<LoopbackLists> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://loopback')
    asked.push(url.pathname + url.search)
    const reply = replyTo(url, instead)
    response.writeHead(reply === null ? 404 : 200)
    response.end(reply ?? '')
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

function replyTo({ pathname, searchParams }: URL, instead: ListAnswers): string | Buffer | null {
  if (pathname === '/dynamic/SymDir/nasdaqtraded.txt') return instead.nasdaq ?? nasdaqTraded()
  if (pathname === '/corpgeneral/corpList.do')
    return instead.kind ?? eucKr(kindTable(searchParams.get('marketType') ?? ''))
  if (pathname === '/opendata/t187ap03_L.csv') return instead.mops ?? mops(TAIPEI, 800, 1101)
  if (pathname === '/opendata/t187ap03_O.csv') return instead.mops ?? mops(TAIPEI_EXCHANGE, 700, 5001)
  if (pathname === '/api/qt/clist/get') return instead.eastmoney ?? eastMoney(searchParams)
  return null
}

const count = (length: number): number[] => Array.from({ length }, (_, i) => i)
const letters = (i: number): string =>
  [3, 2, 1, 0].map((place) => String.fromCharCode(65 + (Math.floor(i / 26 ** place) % 26))).join('')

// --- nasdaqtrader.com

const NASDAQ_HEADER =
  'Nasdaq Traded|Symbol|Security Name|Listing Exchange|Market Category|ETF|Round Lot Size|Test Issue|Financial Status|CQS Symbol|NASDAQ Symbol|NextShares'
const NASDAQ_ROWS = [
  'Y|GLW|Corning Incorporated Common Stock|N| |N|100|N||GLW|GLW|N',
  'Y|RY|Royal Bank Of Canada Common Stock|N| |N|100|N||RY|RY|N',
  'Y|AAPL|Apple Inc. - Common Stock|Q|Q|N|100|N|N||AAPL|N',
  'Y|BRK.B|Berkshire Hathaway Inc. New Common Stock|N| |N|100|N||BRK.B|BRK.B|N',
  'Y|MPLX|MPLX LP Common Units Representing Limited Partner Interests|N| |N|100|N||MPLX|MPLX|N',
  'Y|XLB|Materials Select Sector SPDR|P| |Y|100|N||XLB|XLB|N',
  'Y|ABR$D|Arbor Realty Trust 6.375% Series D Cumulative Redeemable Preferred Stock|N| |N|100|N||ABRpD|ABR-D|N',
  'Y|AACBW|Artius II Acquisition Inc. - Warrant|Q|G|N|100|N|N||AACBW|N',
  'Y|ZVZZT|NASDAQ TEST STOCK|Q|G|N|100|Y|N||ZVZZT|N',
]

function nasdaqTraded(): string {
  const more = count(5_200).map(
    (i) => `Y|Q${letters(i)}|Made ${letters(i)} Holdings, Inc. - Common Stock|Q|S|N|100|N|N||Q|N`,
  )
  return [NASDAQ_HEADER, ...NASDAQ_ROWS, ...more, 'File Creation Time: 1122202621:33|||||||||||', ''].join('\r\n')
}

// --- kind.krx.co.kr: an HTML table that calls itself a spreadsheet, in EUC-KR

const SEOUL: [string, string][] = [
  ['삼성전자', '005930'],
  ['현대글로비스', '086280'],
  ['KT&amp;G', '033780'],
]
const KOSDAQ: [string, string][] = [
  ['에코프로비엠', '247540'],
  ['리노공업', '058470'],
]

function kindTable(market: string): string {
  const [rows, most] = market === 'stockMkt' ? [SEOUL, 700] : [KOSDAQ, 1_300]
  const more = count(most).map((i): [string, string] => [`가상${i}`, `9${String(i).padStart(4, '0')}0`])
  const cells = [...rows, ...more].map(
    ([name, code]) =>
      `<tr><td>${name}</td><td style="mso-number-format:'@';text-align:center;">${code}</td><td>제조업</td></tr>`,
  )
  return `<html><body><table border="1">
<tr><th style='text-align:center'>회사명</th><th>종목코드</th><th>업종</th></tr>
${cells.join('\n')}</table></body></html>`
}

let euc: Map<string, number[]> | null = null

/** Node writes no EUC-KR, but reads it: every pair of bytes is read once. */
function eucKr(text: string): Buffer {
  if (euc === null) {
    euc = new Map()
    const decoder = new TextDecoder('euc-kr')
    for (let first = 0xa1; first <= 0xfe; first++) {
      for (let second = 0xa1; second <= 0xfe; second++)
        euc.set(decoder.decode(Uint8Array.of(first, second)), [first, second])
    }
  }
  const known = euc
  return Buffer.from([...text].flatMap((one) => known.get(one) ?? [one.charCodeAt(0)]))
}

// --- mopsfin.twse.com.tw

const TAIPEI: [string, string, string][] = [
  ['2330', '台積電', 'TSMC'],
  ['2059', '川湖', 'KING SLIDE'],
]
const TAIPEI_EXCHANGE: [string, string, string][] = [['6488', '環球晶', 'GWC']]

function mops(rows: [string, string, string][], most: number, first: number): string {
  const own = new Set(rows.map(([code]) => code))
  const more = count(most).map((i): [string, string, string] => [String(first + i), `虛構${letters(i)}`, ''])
  const lines = [...rows, ...more.filter(([code]) => !own.has(code))].map(
    ([code, name, en]) => `"1151122","${code}","${name}股份有限公司","${name}","－ ","24","台北市, 信義區","${en}"`,
  )
  return `\uFEFF${['"出表日期","公司代號","公司名稱","公司簡稱","外國企業註冊地國","產業別","住址","英文簡稱"', ...lines].join('\r\n')}\r\n`
}

// --- push2.eastmoney.com

function eastMoney(query: URLSearchParams): string {
  const isHongKong = query.get('fs')?.startsWith('m:128') === true
  const rows = isHongKong
    ? [['00700', '腾讯控股'], ['02513', '智谱'], ...count(2_100).map((i) => [String(20_000 + i), `虚构港股${i}`])]
    : [
        ['510300', '沪深300ETF'],
        ['159915', '创业板ETF'],
        ...count(900).map((i) => [String(560_000 + i), `虚构基金${i}`]),
      ]
  const diff = rows.map(([code, name]) => ({ f12: code, f14: name }))
  return JSON.stringify({ rc: 0, data: { total: diff.length, diff } })
}
