/** Loaded with the first code block that names its language. */
import { toJsxRuntime } from 'hast-util-to-jsx-runtime'
import { common, createLowlight } from 'lowlight'
import type { ReactNode } from 'react'
import { Fragment, jsx, jsxs } from 'react/jsx-runtime'

const lowlight = createLowlight(common)

export function highlightCode(code: string, language: string): ReactNode {
  if (!lowlight.registered(language)) return code
  return toJsxRuntime(lowlight.highlight(language, code), { Fragment, jsx, jsxs })
}
