import { describe, expect, it } from 'vitest';
import { type MemoryFacts, memoryLimit, memoryLimitOf } from './budgets.js';

const GB = 2 ** 30;
const MB = 2 ** 20;
/** What v1 says of a group without a limit. */
const V1_NO_LIMIT = '9223372036854771712\n';

function facts(files: Readonly<Record<string, string>>): MemoryFacts {
  return { readText: (path) => files[path] ?? null, machineBytes: 24 * GB, heapBytes: 4 * GB };
}

describe('the memory that a process may use', () => {
  it('is the limit of its own group of cgroup v2', () => {
    const limit = memoryLimitOf(
      facts({
        '/proc/self/cgroup': '0::/system.slice/rookery.service\n',
        '/sys/fs/cgroup/system.slice/rookery.service/memory.max': `${300 * MB}\n`,
        '/sys/fs/cgroup/system.slice/rookery.service/memory.high': 'max\n',
        '/sys/fs/cgroup/system.slice/memory.max': 'max\n',
      }),
    );
    expect(limit).toEqual({ bytes: 300 * MB, source: 'cgroup v2', heapBytes: 4 * GB });
  });

  it('is the limit of a group above its own where that is smaller', () => {
    const limit = memoryLimitOf(
      facts({
        '/proc/self/cgroup': '0::/pod/member\n',
        '/sys/fs/cgroup/pod/member/memory.max': `${2 * GB}\n`,
        '/sys/fs/cgroup/pod/memory.max': `${512 * MB}\n`,
      }),
    );
    expect(limit).toMatchObject({ bytes: 512 * MB, source: 'cgroup v2' });
  });

  it('is memory.high where that is below memory.max: beyond it the kernel throttles', () => {
    const limit = memoryLimitOf(
      facts({
        '/proc/self/cgroup': '0::/\n',
        '/sys/fs/cgroup/memory.max': `${2 * GB}\n`,
        '/sys/fs/cgroup/memory.high': `${GB}\n`,
      }),
    );
    expect(limit.bytes).toBe(GB);
  });

  it('is the limit of its own group of cgroup v1', () => {
    const limit = memoryLimitOf(
      facts({
        '/proc/self/cgroup': '9:name=systemd:/x\n4:cpu,memory:/docker/abc\n0::/\n',
        '/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes': `${300 * MB}\n`,
        '/sys/fs/cgroup/memory/memory.limit_in_bytes': V1_NO_LIMIT,
      }),
    );
    expect(limit).toMatchObject({ bytes: 300 * MB, source: 'cgroup v1' });
  });

  it('is found at the root of the mount in a container that sees the path of its host', () => {
    const limit = memoryLimitOf(
      facts({
        '/proc/self/cgroup': '4:memory:/docker/abc\n',
        '/sys/fs/cgroup/memory/memory.limit_in_bytes': `${300 * MB}\n`,
      }),
    );
    expect(limit).toMatchObject({ bytes: 300 * MB, source: 'cgroup v1' });
  });

  it("is the machine's where no group limits it, or there are no groups", () => {
    const unlimited = {
      '/proc/self/cgroup': '4:memory:/\n0::/\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': V1_NO_LIMIT,
      '/sys/fs/cgroup/memory.max': 'max\n',
    };
    for (const files of [unlimited, {}, { '/proc/self/cgroup': 'not a group\n' }]) {
      expect(memoryLimitOf(facts(files))).toMatchObject({ bytes: 24 * GB, source: 'machine' });
    }
  });

  it('is known of this process', () => {
    const { bytes, heapBytes } = memoryLimit();
    expect(bytes).toBeGreaterThan(64 * MB);
    expect(heapBytes).toBeGreaterThan(64 * MB);
  });
});
