import { cloneElement, useState, type ReactElement, type ReactNode } from 'react'

interface Props {
  /** Opens the menu; also the trigger of the loaded menu. */
  button: ReactElement<{ onClick?: () => void; 'aria-haspopup'?: 'menu' | 'dialog' }>
  opens: 'menu' | 'dialog'
  children: (button: ReactElement) => ReactNode
}

/** A menu whose code loads when it is first opened. Until then there is only its button. `children` is the open menu. */
export function LazyMenu({ button, opens, children }: Props) {
  const [opened, setOpened] = useState(false)
  return opened ? children(button) : cloneElement(button, { 'aria-haspopup': opens, onClick: () => setOpened(true) })
}
