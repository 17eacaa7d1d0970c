import { expect, test } from 'vitest'

import { plainText } from './plainText.ts'

test.each([
  ['**bold**, _slanted_ and `code`', 'bold, slanted and code'],
  ['call read_messages in spc_1m7 with `max_chain_depth`', 'call read_messages in spc_1m7 with max_chain_depth'],
  ['__init__ of __both__ kinds', 'init of both kinds'],
  ['# A heading\n\nwords', 'A heading words'],
  ['> > quoted\n> again', 'quoted again'],
  ['a > b, and # 3 of them', 'a > b, and # 3 of them'],
  ['[a link](https://example.org) and ![a picture](x.png)', 'a link and a picture'],
])('%s', (text, plain) => {
  expect(plainText(text)).toBe(plain)
})
