import { useMe } from '@majlis/client/react'
import { useState } from 'react'

import type { Over } from '../../App.tsx'
import { t } from '../../language/words.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { More } from '../../ui/icons.tsx'
import { LazyMenu } from '../../ui/LazyMenu.tsx'
import { lazyPart } from '../../ui/lazyPart.tsx'
// The browser offers to install the app soon after the page has loaded.
import '../notifications/install.ts'

export const AccountMenuList = lazyPart(() => import('./AccountMenuList.tsx'), { over: true })

export function AccountMenu({ onOver }: { onOver: (over: Over) => void }) {
  const me = useMe()!
  // The menu is rendered inside the sidebar, so that it belongs to a landmark.
  const [footer, setFooter] = useState<HTMLElement | null>(null)
  const trigger = (
    <button type="button" className="flex w-full items-center gap-3 rounded-md px-2 py-1.5 text-start hover:bg-hover">
      <Avatar id={me.id} name={me.name} type={me.type} size="small" />
      <bdi className="min-w-0 flex-1 truncate text-along font-medium">{me.name}</bdi>
      <More className="size-5 text-ink-soft" />
      <span className="unseen">{t(', account menu')}</span>
    </button>
  )
  return (
    <footer ref={setFooter} className="border-t border-line p-2">
      <LazyMenu opens="menu" button={trigger}>{(button) => <AccountMenuList onOver={onOver} button={button} box={footer} waiting={button} />}</LazyMenu>
    </footer>
  )
}
