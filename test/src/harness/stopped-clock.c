/*
 * A monotonic clock that can stand still, as that of a virtual machine does while it is suspended.
 *
 * Loaded into a member before the C library (LD_PRELOAD). STOPPED_CLOCK_FILE names a file of eight
 * bytes: for how many nanoseconds the clock has stood still so far. stopped-clock.ts compiles this
 * file, and writes there while the member is stopped. The wall clock stays as it is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NANOSECONDS 1000000000LL

typedef int (*clock_reader)(clockid_t, struct timespec *);

static clock_reader real_clock_gettime;
static const volatile int64_t *stood_ns;

static clock_reader reader(void) {
  if (real_clock_gettime == NULL) {
    real_clock_gettime = (clock_reader)dlsym(RTLD_NEXT, "clock_gettime");
  }
  return real_clock_gettime;
}

__attribute__((constructor)) static void map_file(void) {
  const char *path = getenv("STOPPED_CLOCK_FILE");
  if (path == NULL) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) abort();
  void *memory = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) abort();
  close(file);
  stood_ns = memory;
}

static int is_monotonic(clockid_t id) {
  return id == CLOCK_MONOTONIC || id == CLOCK_MONOTONIC_COARSE || id == CLOCK_MONOTONIC_RAW ||
         id == CLOCK_BOOTTIME;
}

int clock_gettime(clockid_t id, struct timespec *at) {
  int result = reader()(id, at);
  if (result != 0 || stood_ns == NULL || !is_monotonic(id)) return result;
  int64_t ns = at->tv_sec * NANOSECONDS + at->tv_nsec - *stood_ns;
  at->tv_sec = ns / NANOSECONDS;
  at->tv_nsec = ns % NANOSECONDS;
  return 0;
}
