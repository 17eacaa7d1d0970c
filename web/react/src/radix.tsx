/** Takes the place of `radix-ui`: menus and dialogs open within the embedded space, where its styles are. */
import { createContext, useContext, type ComponentType } from 'react'
import * as radix from 'radix-ui'

export const Box = createContext<HTMLElement | null>(null)

function within<P extends object>(Portal: ComponentType<P>): ComponentType<P> {
  return function Within(props: P) {
    const box = useContext(Box)
    return <Portal container={box} {...props} />
  }
}

export const Dialog = { ...radix.Dialog, Portal: within(radix.Dialog.Portal) }
export const DropdownMenu = { ...radix.DropdownMenu, Portal: within(radix.DropdownMenu.Portal) }
export const Popover = { ...radix.Popover, Portal: within(radix.Popover.Portal) }
