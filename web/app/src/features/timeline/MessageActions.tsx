import type { Message } from '@majlis/client'
import { useState } from 'react'

import { t } from '../../language/words.ts'
import { EmojiButton } from '../composer/EmojiButton.tsx'
import { useMayWrite } from '../spaces/useMayWrite.ts'
import { IconButton } from '../../ui/Button.tsx'
import { More, Reply } from '../../ui/icons.tsx'
import { LazyMenu } from '../../ui/LazyMenu.tsx'
import { lazyPart } from '../../ui/lazyPart.tsx'
import { useReact } from './useReact.ts'

export const Deliveries = lazyPart(() => import('../inspector/Deliveries.tsx'))
export const MessageMenu = lazyPart(() => import('./MessageMenu.tsx'), { over: true })

/** Visible while the message has the pointer or the focus. With a mouse beside the text, on a touch screen below it. */
export function MessageActions({ message, onReply }: { message: Message; onReply: (message: Message) => void }) {
  const [menu, setMenu] = useState(false)
  const [picker, setPicker] = useState(false)
  const mayWrite = useMayWrite(message.spaceId)
  const react = useReact(message)
  const shown = menu || picker ? '' : 'opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 pointer-coarse:hidden pointer-coarse:group-focus-within:flex'
  return (
    <div className={`flex h-6 w-21 shrink-0 items-center justify-end self-start pointer-coarse:h-8 pointer-coarse:w-full ${shown}`}>
      {mayWrite && <IconButton label={t('Reply')} className="size-7 pointer-coarse:size-8" onClick={() => onReply(message)}><Reply className="size-4" /></IconButton>}
      {mayWrite && !message.deletedAt && <EmojiButton label={t('React')} className="size-7 pointer-coarse:size-8" onChoose={react} onOpenChange={setPicker} />}
      <LazyMenu opens="menu" button={<IconButton label={t('More actions')} className="size-7 pointer-coarse:size-8"><More className="size-4" /></IconButton>}>
        {(button) => <MessageMenu message={message} button={button} waiting={button} onOpenChange={setMenu} />}
      </LazyMenu>
    </div>
  )
}
