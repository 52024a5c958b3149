// Currencies by their codes (ISO 4217), and their names in brokers' files.

const NAMES: Readonly<Record<string, string>> = {
  人民币: 'CNY',
  人民币元: 'CNY',
  RMB: 'CNY',
  CNH: 'CNY',
  港币: 'HKD',
  港元: 'HKD',
  美元: 'USD',
  美金: 'USD',
  日元: 'JPY',
  日圆: 'JPY',
  韩元: 'KRW',
  韩圆: 'KRW',
  新台币: 'TWD',
  台币: 'TWD',
  欧元: 'EUR',
  英镑: 'GBP',
}

/** Currencies in use (ISO 4217 as of 2025): with a mistyped code every total would lack a rate. */
const CODES: ReadonlySet<string> = new Set(
  (
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF ' +
    'CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL ' +
    'HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD ' +
    'MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG ' +
    'QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD ' +
    'TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG'
  ).split(' '),
)

/** The code; null for what is neither a code of a currency nor a known name. */
export function currencyCode(text: string): string | null {
  const plain = text.normalize('NFKC').trim().toUpperCase()
  const named = NAMES[plain]
  if (named !== undefined) return named
  return CODES.has(plain) ? plain : null
}
