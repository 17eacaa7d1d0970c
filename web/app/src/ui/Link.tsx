import type { AnchorHTMLAttributes, MouseEvent } from 'react'

import { go } from '../router.ts'

/** A link of the app: a real one, so that it can be copied and opened in a new tab, that does not load the page anew. */
export function Link({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    go(href)
  }
  return <a href={href} onClick={follow} {...rest} />
}
