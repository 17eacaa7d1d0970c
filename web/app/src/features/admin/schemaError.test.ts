import { expect, test } from 'vitest'

import { schemaError, type Schema } from './schemaError.ts'

const SCHEMA: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    mind: { enum: ['timeline', 'roles'] },
    model: { oneOf: [{ type: 'string', pattern: '^(?:demo|.+:.+)$' }, { $ref: '#/$defs/Model' }] },
    window: { type: 'integer' },
    tools: { type: 'array', items: { oneOf: [{ $ref: '#/$defs/Static' }, { $ref: '#/$defs/Http' }] } },
  },
  $defs: {
    Model: { type: 'object', properties: { provider: { type: 'string' } }, required: ['provider'], additionalProperties: false },
    Static: { type: 'object', properties: { type: { const: 'static' }, output: {} }, required: ['type', 'output'] },
    Http: { type: 'object', properties: { type: { const: 'http' }, url: { type: 'string' } }, required: ['type', 'url'] },
  },
}

test.each([
  [{}, null],
  [{ mind: 'roles', model: 'openai:x', window: 3, tools: [{ type: 'static', output: null }] }, null],
  [{ model: { provider: 'openai' } }, null],
  [{ mind: 'dreamer' }, 'mind must be one of: timeline, roles'],
  [{ wndow: 3 }, 'wndow is not a known setting'],
  [{ window: 'wide' }, 'window must be of type integer'],
  [{ model: 'gpt' }, 'Use provider:model, for example openai:gpt-5.2'],
  [{ model: { provider: 3 } }, 'model.provider must be of type string'],
  [{ tools: [{ type: 'http', url: 3 }] }, 'tools[0].url must be of type string'],
  [[], 'The config must be of type object'],
])('%j: %s', (config, problem) => {
  expect(schemaError(SCHEMA, config)).toBe(problem)
})
