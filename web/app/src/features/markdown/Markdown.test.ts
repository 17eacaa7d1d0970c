import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'

import { Markdown } from './Markdown.tsx'

const shown = (text: string): string => renderToStaticMarkup(createElement(Markdown, { text, names: ['Ada'], me: 'Lina' })).replaceAll('\n', '')

test.each([
  ['one\ntwo\nthree', '<p>one<br/>two<br/>three</p>'],
  ['**one**\n**two**', '<p><strong>one</strong><br/><strong>two</strong></p>'],
  ['one  \ntwo', '<p>one<br/>two</p>'],
  ['- one\n  more\n- two', '<ul><li>one<br/>more</li><li>two</li></ul>'],
  ['one\n\ntwo', '<p>one</p><p>two</p>'],
  ['hello\n@Ada', '<p>hello<br/><span class="mention">@Ada</span></p>'],
])('%j keeps its line breaks', (text, markup) => {
  expect(shown(text)).toContain(markup)
})
