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
  ['hello\n@Ada', '<p>hello<br/><bdi class="mention">@Ada</bdi></p>'],
])('%j keeps its line breaks', (text, markup) => {
  expect(shown(text)).toContain(markup)
})

test.each([
  ['a List<String> of names', '<p>a List&lt;String&gt; of names</p>'],
  ['if a<b and c>d', '<p>if a&lt;b and c&gt;d</p>'],
  ['<div>\n**no** markup\n</div>', '<p>&lt;div&gt;<br/>**no** markup<br/>&lt;/div&gt;</p>'],
  ['one<br>two', '<p>one<br/>two</p>'],
  ['- Map<K, V> of <T>', '<li>Map&lt;K, V&gt; of &lt;T&gt;</li>'],
  ['<@Ada> hello', '&lt;<bdi class="mention">@Ada</bdi>&gt; hello'],
])('%j shows its tags as text', (text, markup) => {
  expect(shown(text)).toContain(markup)
})
