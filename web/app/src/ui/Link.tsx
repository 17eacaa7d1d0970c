import type { AnchorHTMLAttributes, MouseEvent, Ref } from 'react'

import { go } from '../router.ts'

/** An in-app link: a real anchor, so it can be copied or opened in a new tab, that navigates without a reload. */
export function Link({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string; ref?: Ref<HTMLAnchorElement> | undefined }) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    go(href)
  }
  return <a href={href} onClick={follow} {...rest} />
}
