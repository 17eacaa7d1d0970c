import { Popover } from 'radix-ui'
import { useEffect, useState, type ReactNode } from 'react'

import EmojiPicker from './EmojiPicker.tsx'

/** The emoji picker with its button, open at first. The focus stays where `onChoose` puts it. */
export default function EmojiPopover({ label, button, onChoose, onOpenChange }: { label: string; button: ReactNode; onChoose: (sign: string) => void; onOpenChange: (open: boolean) => void }) {
  const [open, setOpen] = useState(true)
  useEffect(() => onOpenChange(open), [open])
  const choose = (sign: string) => {
    setOpen(false)
    onChoose(sign)
  }
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>{button}</Popover.Trigger>
      <Popover.Portal>
        <Popover.Content align="end" sideOffset={6} collisionPadding={12} aria-label={label} className="z-30 animate-rise rounded-lg border border-line bg-paper-high p-3 shadow-high">
          <EmojiPicker onChoose={choose} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}
