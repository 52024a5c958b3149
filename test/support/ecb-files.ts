// The euro's reference rates in the form of the European Central Bank's files, as they were in 2025; the figures are made up.

const RATES = { USD: '1.16', JPY: '181.29', GBP: '0.8755', CNY: '8.2105', HKD: '9.0275', KRW: '1704.63' }

/** The days are the last working ones before now, the newest first. */
export function ecbFile(name: string, now = Date.now()): string | null {
  const count = { 'eurofxref-daily.xml': 1, 'eurofxref-hist-90d.xml': 63, 'eurofxref-hist.xml': 700 }[name]
  if (count === undefined) return null
  const days: string[] = []
  for (let at = now; days.length < count; at -= 86_400_000) {
    const day = new Date(at)
    if (day.getUTCDay() % 6 !== 0) days.push(ecbDay(day.toISOString().slice(0, 10), RATES))
  }
  return ecbXml(days)
}

export const ecbDay = (date: string, rates: Record<string, string>): string =>
  `<Cube time="${date}">${Object.entries(rates)
    .map(([currency, rate]) => `<Cube currency="${currency}" rate="${rate}"/>`)
    .join('')}</Cube>`

export const ecbXml = (days: readonly string[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?><gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref"><gesmes:subject>Reference rates</gesmes:subject><gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender><Cube>${days.join('\n')}</Cube></gesmes:Envelope>`
