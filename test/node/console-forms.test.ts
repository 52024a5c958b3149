// Where the console tells what the service refused of a form.

import { expect, test } from 'vitest'
import { ApiError } from '../../src/web/api.ts'
import { pageIn } from '../../src/web/format.ts'
import { faultsIn, placed } from '../../src/web/refusals.ts'
import { placeOfSetting } from '../../src/web/setting-places.ts'

type Item = { loc: (string | number)[]; type: string; msg?: string; ctx?: object }

const refusedWith = (...detail: Item[]) => new ApiError('refused', 422, { detail })
const told = (error: unknown, names: string[], within = '') => {
  const { faults, rest } = placed(error, names, within)
  return { ...Object.fromEntries(faults), rest }
}

test('each fault of a 422 stands at the field that it is about, in words of the form', () => {
  const error = refusedWith(
    {
      loc: ['body', 'when', 'after_close_minutes'],
      type: 'less_than_equal',
      msg: 'Input should be …',
      ctx: { le: 720 },
    },
    { loc: ['body', 'name'], type: 'string_too_short', ctx: { min_length: 1 } },
  )
  expect(told(error, ['name', 'when.after_close_minutes'])).toEqual({
    name: 'This is needed.',
    'when.after_close_minutes': 'It must be at most 720.',
    rest: null,
  })
})

test('a fault within a field, around fields or in a list is told at the nearest one; of two at one field both are', () => {
  const words = 'a time of the 24-hour clock such as 09:30 is wanted'
  const time: Item = { loc: ['body', 'when', 'times', 0], type: 'value_error', msg: `Value error, ${words}` }
  expect(told(refusedWith(time, { ...time, type: 'missing' }), ['when', 'when.times'])).toEqual({
    'when.times': 'A time of the 24-hour clock such as 09:30 is wanted This is needed.',
    rest: null,
  })
  const around = refusedWith({ loc: ['body', 'when'], type: 'value_error', msg: 'Value error, one time is wanted' })
  expect(told(around, ['name', 'when.times'])).toEqual({ 'when.times': 'One time is wanted', rest: null })
  const path = refusedWith({ loc: ['path', 'channel_id'], type: 'missing' })
  expect(told(path, ['channel_id'])).toEqual({ channel_id: 'This is needed.', rest: null })
})

test('what the form has no field for is told with its place, and nothing is taken for a field that only begins like it', () => {
  const error = refusedWith({ loc: ['body', 'names'], type: 'int_parsing' }, { loc: ['body'], type: 'missing' })
  expect(told(error, ['name'])).toEqual({ rest: 'names: A whole number is needed. This is needed.' })
})

test('a refusal in a sentence is told at the field that its detail or its head names', () => {
  const named = new ApiError('parameters.price：应大于 0', 400, { detail: { field: 'parameters.price' } })
  expect(told(named, ['parameters.price'])).toEqual({ 'parameters.price': '应大于 0', rest: null })
  const headed = new ApiError('where.and[0].value: for pe_ratio a number is wanted', 400)
  expect(told(headed, ['where.and.0.value'])).toEqual({
    'where.and.0.value': 'For pe_ratio a number is wanted',
    rest: null,
  })
  const unclear = new ApiError('No list knows “zz”', 400, { detail: { field: 'symbol', invalid: [] } })
  expect(told(unclear, ['symbol'])).toEqual({ symbol: 'No list knows “zz”', rest: null })
  const code = new ApiError('600519: 10 would be sold, but only 5 are held', 409)
  expect(told(code, ['symbol'])).toEqual({ rest: '600519: 10 would be sold, but only 5 are held' })
})

test('a form that is one member of the body finds its fields in it', () => {
  const error = refusedWith({ loc: ['body', 'screen', 'max_age_sessions'], type: 'int_parsing' })
  expect(told(error, ['max_age_sessions', 'name'], 'screen')).toEqual({
    max_age_sessions: 'A whole number is needed.',
    rest: null,
  })
})

test('what did not come from the service is told as it is', () => {
  expect(faultsIn(new ApiError('The service cannot be reached.', 0))).toEqual([
    { path: '', text: 'The service cannot be reached.', whole: 'The service cannot be reached.' },
  ])
})

test('a page number in an address is one from 1 on, whatever was written there', () => {
  expect(['3', '0', '-1', '1e3', 'x', '', '9999999'].map(pageIn)).toEqual([3, 1, 1, 1, 1, 1, 1])
})

test('an error that speaks of a setting leads to its page, in both languages, and no other error anywhere', () => {
  const table: [said: string, place: string | null][] = [
    ['The chosen model needs an API key; add it in the settings', '/settings/model'],
    ['Name a model in the settings (llm_model, and llm_api_key where it needs a key)', '/settings/model'],
    ['尚未配置模型（no llm configured）：请先在设置中选择模型并填写密钥', '/settings/model'],
    ['The budget of $2 for the day is used up ($2). A higher one can be set in the settings.', '/settings/limits'],
    ['No connected runner that is free has the label gpu, which the settings ask for.', '/settings/runtime'],
    ['The agent that the settings name does not exist here; CodeActAgent works instead.', '/settings/agent'],
    ['The settings of the channel are not complete', '/settings/notifications'],
    ['The tool server mine is not configured any more', '/settings/tool-servers'],
    ['There is no runner abc', null],
    ['Another source tells another close.', null],
  ]
  expect(table.map(([said]) => [said, placeOfSetting(said)])).toEqual(table)
})
