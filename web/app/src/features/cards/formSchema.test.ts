import { expect, test } from 'vitest'

import { kindOf, labelOf, problemOf, valueOf, type Property } from './formSchema.ts'

test.each([['start_date', 'Start date'], ['startDate', 'Start date'], ['version', 'Version'], ['api-key', 'Api key']])('%s is labeled %s', (name, label) => {
  expect(labelOf(name, {})).toBe(label)
})

test('a list of choices is a list of checkboxes, and a list of texts is one per line', () => {
  const teams: Property = { type: 'array', items: { enum: ['web', 'data'] } }
  expect(valueOf(kindOf(teams), teams, ['data'])).toEqual(['data'])
  const hosts: Property = { type: 'array', items: { type: 'string' } }
  expect(valueOf(kindOf(hosts), hosts, ['a\n\n b '])).toEqual(['a', 'b'])
})

test.each<[Property, boolean, unknown, string | null]>([
  [{ type: 'string' }, true, undefined, 'This field is required'],
  [{ type: 'string' }, false, undefined, null],
  [{ type: 'array', items: { enum: ['a'] } }, true, [], 'Select at least one option'],
  [{ type: 'integer' }, true, 1.5, 'Enter a whole number'],
  [{ type: 'integer', minimum: 3 }, true, 2, 'Enter 3 or more'],
  [{ type: 'boolean' }, true, false, null],
])('%o', (property, required, value, problem) => {
  expect(problemOf(kindOf(property), property, required, value)).toBe(problem)
})
