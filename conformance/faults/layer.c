/* A layer of faults between a program and the C library, for LD_PRELOAD.
 *
 * What goes wrong is in the file that WEIR_FAULTS names, which is mapped, so that a test changes it while the
 * program runs: three 64-bit numbers, the kind of fault, its value, and nanoseconds by which the clock of the day is
 * off. Only files below the folder of WEIR_FAULTS_BELOW are touched.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum kind { NONE, FULL, READ_ONLY, SLOW, BROKEN_SYNC, SHORT, LYING };

struct control {
  volatile int64_t kind, value, clock;
};

static struct control nothing, *control = &nothing;
static char below[4096];

static ssize_t (*next_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*next_write)(int, const void *, size_t);
static int (*next_fdatasync)(int);
static int (*next_fsync)(int);
static int (*next_ftruncate)(int, off_t);
static int (*next_clock)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
  next_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  next_write = dlsym(RTLD_NEXT, "write");
  next_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  next_fsync = dlsym(RTLD_NEXT, "fsync");
  next_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  next_clock = dlsym(RTLD_NEXT, "clock_gettime");
  const char *file = getenv("WEIR_FAULTS"), *folder = getenv("WEIR_FAULTS_BELOW");
  if (!file || !folder || !realpath(folder, below)) return;
  int fd = open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void *map = mmap(NULL, sizeof *control, PROT_READ, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) control = map;
  close(fd);
}

static int is_meant(int fd) {
  char link[64], path[4096];
  if (control->kind == NONE) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  size_t end = strlen(below);
  return strncmp(path, below, end) == 0 && path[end] == '/';
}

static void wait_ms(int64_t ms) {
  struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);
}

/* 0 where the write goes on as it is; else what it comes to. */
static int refused(int fd) {
  if (!is_meant(fd)) return 0;
  if (control->kind == FULL) return ENOSPC;
  if (control->kind == READ_ONLY) return EROFS;
  return 0;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t at) {
  int error = refused(fd);
  if (error) return errno = error, -1;
  if (is_meant(fd) && count > 1) {
    if (control->kind == SHORT) return next_pwrite(fd, bytes, count / 2, at);
    if (control->kind == LYING) return next_pwrite(fd, bytes, count / 2, at) < 0 ? -1 : (ssize_t)count;
  }
  return next_pwrite(fd, bytes, count, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return pwrite64(fd, bytes, count, at); }

ssize_t write(int fd, const void *bytes, size_t count) {
  int error = refused(fd);
  if (error) return errno = error, -1;
  return next_write(fd, bytes, count);
}

static int synced(int fd, int (*next)(int)) {
  if (is_meant(fd)) {
    if (control->kind == SLOW) wait_ms(control->value);
    if (control->kind == BROKEN_SYNC) return errno = EIO, -1;
  }
  return next(fd);
}

int fdatasync(int fd) { return synced(fd, next_fdatasync); }
int fsync(int fd) { return synced(fd, next_fsync); }

int ftruncate64(int fd, off_t length) {
  int error = refused(fd);
  if (error) return errno = error, -1;
  return next_ftruncate(fd, length);
}

int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

int clock_gettime(clockid_t id, struct timespec *time) {
  int done = next_clock(id, time);
  if (done == 0 && id == CLOCK_REALTIME && control->clock) {
    int64_t nanos = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + control->clock;
    time->tv_sec = nanos / 1000000000;
    time->tv_nsec = nanos % 1000000000;
  }
  return done;
}
