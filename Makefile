# SPDX-License-Identifier: BSD-2-Clause
# A thin front for CMake, whose presets hold the settings. `make help` says what
# there is.

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export JOBS

.DEFAULT_GOAL := all
.PHONY: all help deps demo check bench format tidy freestanding \
	install uninstall clean

help:
	@echo 'make              build the libraries and policyctl (build/release)'
	@echo 'make demo         the same, then two simulated hosts with reports'
	@echo 'make check        every test: release, sanitizers, fuzzing'
	@echo 'make bench        the benchmarks at full length'
	@echo 'make freestanding the core as one object for a kernel'
	@echo 'make format       clang-format on all C files'
	@echo 'make tidy         clang-tidy on the libraries and policyctl'
	@echo 'make install      PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)'
	@echo 'make uninstall    what make install put there last'
	@echo 'make clean        remove build/'
	@echo 'make deps         install missing Debian packages for all of these'

deps:
	@sh .ci/deps.sh test

# No tests here, so that building asks for fewer packages; and no warning stops
# a compiler newer than ours.
all:
	@sh .ci/deps.sh build
	cmake --preset release -B build/plain -DPOL_BUILD_TESTS=OFF \
		-DPOL_WERROR=OFF
	cmake --build build/plain -j $(JOBS)

demo: all
	@POLICYCTL=build/plain/tools/policyctl/policyctl sh tools/demo.sh

check: deps
	@sh tests/check.sh

bench: deps
	cmake --preset release
	cmake --build build/release -j $(JOBS)
	@sh tests/bench/run_all.sh build/release

freestanding:
	cmake --preset freestanding
	cmake --build --preset freestanding

format:
	@sh tests/style/format.sh --fix

tidy:
	cmake --preset clang
	@sh tests/style/tidy.sh build/clang

install: all
	DESTDIR='$(DESTDIR)' cmake --install build/plain --prefix '$(PREFIX)'

uninstall:
	@sh libpolicy/cmake/uninstall.sh build/plain/install_manifest.txt \
		'$(DESTDIR)'

clean:
	rm -rf build
